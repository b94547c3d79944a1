import { maskOfFlags } from '../../bytes/byte-bits.ts';
import type { Transaction } from '../../model/transaction.ts';
import type { Transformation } from '../../transformations/transformation.ts';
import type { ScanTest } from './scan-tests.ts';

/** One step of the transformation trie: tests that see the value as it stands here, and steps that go on from here. */
type TrieNode = {
  readonly step: Transformation | null;
  /** Without any of these class bits the step changes nothing; null: it may change anything, an empty value too. */
  readonly triggers: number | null;
  readonly tests: ScanTest[];
  readonly children: TrieNode[];
};

/** Nodes that see the same bytes, with what that comes to for each kind of bytes. */
export type NodeSet = { readonly nodes: readonly TrieNode[]; readonly byMask: Map<number, Work> };

/** What to do with bytes of one class mask: tests that may match, and steps that may change the bytes. */
export type Work = {
  readonly tests: readonly ScanTest[];
  readonly steps: readonly { readonly step: Transformation; readonly next: NodeSet }[];
};

/** Finds which tests of a class match a value. */
export type ValueScanner = {
  /** Scans one value; the answer is valid until the next call. */
  scan(scanClass: ScanClass, buf: Uint8Array, start: number, end: number, tx: Transaction): readonly number[];
};

/** All tests that apply to a value of some source and name. */
export type ScanClass = {
  readonly id: number;
  readonly scanner: ValueScanner;
  readonly isEmpty: boolean;
  readonly root: NodeSet;
};

/** Values of one kind have few masks; should they have many, the table starts again. */
const maxMasks = 512;
let lastClassId = 0;

/** Lays the tests out along a trie of their transformations. */
export const buildClass = (tests: readonly ScanTest[], scanner: ValueScanner): ScanClass => {
  const root = createNode(null);
  for (const test of tests) {
    let node = root;
    if (test.link.isMultiMatch) node.tests.push(test);
    for (const step of test.link.transformations) {
      let child = node.children.find((other) => other.step === step);
      if (child === undefined) {
        child = createNode(step);
        node.children.push(child);
      }
      node = child;
      if (test.link.isMultiMatch) node.tests.push(test);
    }
    if (!test.link.isMultiMatch) node.tests.push(test);
  }
  return { id: ++lastClassId, scanner, isEmpty: tests.length === 0, root: nodeSet([root]) };
};

const createNode = (step: Transformation | null): TrieNode => ({
  step,
  triggers: step === null || step.triggers === null ? null : maskOfFlags(step.triggers),
  tests: [],
  children: [],
});

const nodeSet = (nodes: readonly TrieNode[]): NodeSet => ({ nodes, byMask: new Map() });

/** The work for bytes of a class mask, remembered. */
export const workFor = (set: NodeSet, mask: number): Work => {
  let work = set.byMask.get(mask);
  if (work === undefined) {
    work = findWork(set.nodes, mask);
    if (set.byMask.size >= maxMasks) set.byMask.clear();
    set.byMask.set(mask, work);
  }
  return work;
};

const findWork = (nodes: readonly TrieNode[], mask: number): Work => {
  const tests = new Set<ScanTest>();
  const steps = new Map<Transformation, TrieNode[]>();
  const pending = [...nodes];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    for (const test of node.tests) if (isPossible(test, mask)) tests.add(test);
    for (const child of node.children) {
      // A step without its trigger bytes leaves the bytes alone: its node sees them too.
      if (child.triggers !== null && (mask & child.triggers) === 0) pending.push(child);
      else if (steps.has(child.step!)) steps.get(child.step!)!.push(child);
      else steps.set(child.step!, [child]);
    }
  }
  return { tests: [...tests], steps: [...steps].map(([step, next]) => ({ step, next: nodeSet(next) })) };
};

const isPossible = ({ gate, operator }: ScanTest, mask: number): boolean =>
  operator.isNegated || gate.conditions.every((condition) => (mask & condition) !== 0);
