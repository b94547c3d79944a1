import type { PhaseProgram, Program, Rule } from '../../model/program.ts';

/** The rules of one phase and which of them have to be visited, as bit sets over their positions. */
export type PhaseTable = {
  readonly rules: readonly Rule[];
  /** Positions to visit when these groups are scanned: what cannot be scanned, and what is not scanned yet. */
  start(scannedGroups: number): Uint32Array;
  /** Adds a rule by its index, when it is of this phase and not before `from`. */
  activate(active: Uint32Array, ruleIndex: number, from: number): void;
  /** Takes out the rules of a group that has just been scanned. */
  settle(active: Uint32Array, group: number): void;
};

/** The tables of all phases; rules whose indexes are in `leftOut` are never visited. */
export const createPhaseTables = (program: Program, leftOut: ReadonlySet<number>): PhaseTable[] =>
  program.phases.map((phase) => createTable(phase, program.groupCount, leftOut));

const createTable = ({ rules }: PhaseProgram, groupCount: number, leftOut: ReadonlySet<number>): PhaseTable => {
  const words = (rules.length + 31) >> 5;
  const positions = new Map(rules.map(({ index }, position) => [index, position]));
  const always = new Uint32Array(words);
  const byGroup = Array.from({ length: groupCount }, () => new Uint32Array(words));
  for (const [position, rule] of rules.entries()) {
    if (leftOut.has(rule.index)) continue;
    const into = rule.isScannable ? byGroup[rule.group]! : always;
    into[position >> 5]! |= 1 << (position & 31);
  }
  let lastGroups = -1;
  let lastStart = always;
  return {
    rules,
    start(scannedGroups) {
      if (scannedGroups !== lastGroups) {
        lastStart = always.slice();
        for (const [group, bits] of byGroup.entries()) {
          if ((scannedGroups & (1 << group)) === 0)
            for (let word = 0; word < words; word++) lastStart[word]! |= bits[word]!;
        }
        lastGroups = scannedGroups;
      }
      return lastStart.slice();
    },
    activate(active, ruleIndex, from) {
      const position = positions.get(ruleIndex);
      if (position !== undefined && position >= from) active[position >> 5]! |= 1 << (position & 31);
    },
    settle(active, group) {
      const bits = byGroup[group]!;
      for (let word = 0; word < words; word++) active[word]! &= ~bits[word]!;
    },
  };
};

/** The first set position at or after `from`, or -1. */
export const nextPosition = (active: Uint32Array, from: number): number => {
  let word = from >> 5;
  if (word >= active.length) return -1;
  let bits = active[word]! & (-1 << (from & 31));
  while (bits === 0) {
    if (++word >= active.length) return -1;
    bits = active[word]!;
  }
  return word * 32 + 31 - Math.clz32(bits & -bits);
};
