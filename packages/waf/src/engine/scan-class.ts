import type { ScanTest } from '../compile/scan-tests.ts';
import type { Transformation } from '../transformations/transformation.ts';
import { maskOfFlags } from './byte-bits.ts';
import type { ValueScanner } from './value-scanner.ts';

/** One step of the transformation trie: tests that see the value as it stands here, and steps that go on from here. */
export type TrieNode = {
  readonly step: Transformation | null;
  /** Without any of these class bits the step changes nothing. */
  readonly triggers: number;
  readonly tests: ScanTest[];
  readonly children: TrieNode[];
  readonly byMask: Map<number, readonly ScanTest[]>;
};

/** All tests that apply to a value of some source and name. */
export type ScanClass = {
  readonly id: number;
  readonly scanner: ValueScanner;
  readonly root: TrieNode;
  readonly tests: readonly ScanTest[];
  /** A value without any of these class bits is not changed by any step. */
  readonly triggers: number;
  readonly byMask: Map<number, readonly ScanTest[]>;
};

const maxMasks = 512;
let lastClassId = 0;

/** Tests of a node that the mask leaves possible. The answers are kept: values of one kind have few masks. */
export const candidatesFor = (
  holder: { readonly tests: readonly ScanTest[]; readonly byMask: Map<number, readonly ScanTest[]> },
  mask: number,
): readonly ScanTest[] => {
  let candidates = holder.byMask.get(mask);
  if (candidates === undefined) {
    candidates = holder.tests.filter(
      ({ gate, operator }) => operator.isNegated || gate.conditions.every((condition) => (mask & condition) !== 0),
    );
    if (holder.byMask.size >= maxMasks) holder.byMask.clear();
    holder.byMask.set(mask, candidates);
  }
  return candidates;
};

/** Lays the tests out along a trie of their transformations. */
export const buildClass = (tests: readonly ScanTest[], scanner: ValueScanner): ScanClass => {
  const root = createNode(null);
  let triggers = 0;
  for (const test of tests) {
    let node = root;
    if (test.link.isMultiMatch) node.tests.push(test);
    for (const step of test.link.transformations) {
      let child = node.children.find((other) => other.step === step);
      if (child === undefined) {
        child = createNode(step);
        node.children.push(child);
        triggers |= child.triggers;
      }
      node = child;
      if (test.link.isMultiMatch) node.tests.push(test);
    }
    if (!test.link.isMultiMatch) node.tests.push(test);
  }
  return { id: ++lastClassId, scanner, root, tests, triggers, byMask: new Map() };
};

const createNode = (step: Transformation | null): TrieNode => ({
  step,
  triggers: step === null ? 0 : maskOfFlags(step.triggers),
  tests: [],
  children: [],
  byMask: new Map(),
});
