import type { ScanTest } from '../compile/scan-tests.ts';
import type { Transformation } from '../transformations/transformation.ts';
import { sourceCount } from '../variables/source.ts';
import { maskOfFlags } from './byte-bits.ts';
import { isExcluded, selects } from './name-selection.ts';

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
  readonly root: TrieNode;
  readonly tests: readonly ScanTest[];
  /** A value without any of these class bits is not changed by any step. */
  readonly triggers: number;
  readonly byMask: Map<number, readonly ScanTest[]>;
};

const maxNames = 2_048;
const maxClasses = 512;
const maxMasks = 512;
let lastClassId = 0;

/** Which tests of some groups apply to which values. Classes are built when a value first needs them. */
export const createScanPlan = (tests: readonly ScanTest[]) => {
  const bySource = Array.from({ length: sourceCount }, (_, source) => createSource(source, tests));
  const classes = new Map<string, ScanClass>();

  const classOf = (chosen: readonly ScanTest[]): ScanClass => {
    const signature = chosen.map(({ index }) => index).join();
    let found = classes.get(signature);
    if (found === undefined) {
      if (classes.size >= maxClasses) classes.clear();
      found = buildClass(chosen);
      classes.set(signature, found);
    }
    return found;
  };

  return {
    /** The class of a value; `key` is its name in lower case. */
    classFor(source: number, key: string): ScanClass {
      const table = bySource[source]!;
      if (!table.hasPatterns && !table.literalKeys.has(key)) {
        table.plain ??= classOf(table.testsFor(null));
        return table.plain;
      }
      let found = table.byKey.get(key);
      if (found === undefined) {
        if (table.byKey.size >= maxNames) table.byKey.clear();
        found = classOf(table.testsFor(key));
        table.byKey.set(key, found);
      }
      return found;
    },
  };
};

export type ScanPlan = ReturnType<typeof createScanPlan>;

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

const createSource = (source: number, tests: readonly ScanTest[]) => {
  const relevant = tests.filter(({ link }) => link.targets.some((target) => target.sources.includes(source)));
  const selectors = relevant.flatMap(({ link }) => [
    ...link.targets.filter((target) => target.sources.includes(source)).map(({ selector }) => selector),
    ...link.exclusions.map(({ selector }) => selector),
  ]);
  const literalKeys = new Set(selectors.flatMap((selector) => (selector?.kind === 'literal' ? [selector.key] : [])));
  return {
    literalKeys,
    hasPatterns: selectors.some((selector) => selector?.kind === 'regex'),
    byKey: new Map<string, ScanClass>(),
    plain: undefined as ScanClass | undefined,
    /** Tests for values named `key`; null: for names that no selector mentions. */
    testsFor: (key: string | null): ScanTest[] =>
      relevant.filter(({ link }) =>
        link.targets.some(
          ({ sources, selector, variable }) =>
            sources.includes(source) &&
            (key === null ? selector === null : selects(selector, key)) &&
            !(key === null
              ? link.exclusions.some((out) => out.variable === variable && out.selector === null)
              : isExcluded(link.exclusions, variable, key)),
        ),
      ),
  };
};

const buildClass = (tests: readonly ScanTest[]): ScanClass => {
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
  return { id: ++lastClassId, root, tests, triggers, byMask: new Map() };
};

const createNode = (step: Transformation | null): TrieNode => ({
  step,
  triggers: step === null ? 0 : maskOfFlags(step.triggers),
  tests: [],
  children: [],
  byMask: new Map(),
});
