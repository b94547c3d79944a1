import type { AutomatonMemory } from './automaton-memory.ts';
import { byteFrequency } from './byte-frequency.ts';
import type { BytePartition } from './byte-partition.ts';
import { createNodeMarks } from './node-marks.ts';
import { Op, type Program } from './program.ts';
import { createStateTable } from './state-table.ts';
import { spend, type WorkBudget } from './work-budget.ts';

/** A lazily built automaton that looks for a match beginning anywhere. */
export type SearchDfa = {
  /** Whether there is a match; stops at the first byte that decides it. */
  test(buf: Uint8Array, start: number, end: number, budget: WorkBudget): boolean;
  /**
   * For a reversed program: the positions, scanning from `end` down, where a match begins; the leftmost is returned, -1
   * when there is none. `visit`, when given, sees each of them, from right to left.
   */
  leftmost(buf: Uint8Array, start: number, end: number, budget: WorkBudget, visit?: (at: number) => void): number;
  readonly bytes: number;
};

/** Share of bytes beyond which looking for them one by one is not worth while. */
const maxQuietInterruptions = 0.12;

const accepted = -2;
const dead = -1;

const sortNodes = (nodes: Int32Array, count: number): void => {
  if (count > 40) {
    nodes.subarray(0, count).sort();
    return;
  }
  for (let index = 1; index < count; index++) {
    const node = nodes[index]!;
    let at = index - 1;
    while (at >= 0 && nodes[at]! > node) {
      nodes[at + 1] = nodes[at]!;
      at--;
    }
    nodes[at + 1] = node;
  }
};

/**
 * Every state contains the beginning of the program implicitly: lists hold only the matches under way, which keeps
 * them short however many alternatives a pattern begins with. Edges wait in the list until the next byte is known.
 */
export const createSearchDfa = (program: Program, partition: BytePartition, memory: AutomatonMemory): SearchDfa => {
  const { op, a, b, c: exits } = program;
  const { classOf, count: endClass, setMembers, prevKind, edgeHolds, kinds } = partition;
  const width = endClass + 1;
  const marks = createNodeMarks(program.length);
  const stack = new Int32Array(program.length * 2 + 2);
  const resolved = new Int32Array(program.length + 1);
  const target = new Int32Array(program.length + 1);
  let targetCount = 0;
  let resolvedCount = 0;
  let work = 0;

  const holds = (edge: number, kind: number, next: number): boolean =>
    edgeHolds[(edge * kinds + kind) * width + next] === 1;

  /** Follows what consumes nothing. With `kind` < 0 edges are collected, else they are decided by kind and next class. */
  const close = (from: number, list: Int32Array, filled: number, kind: number, next: number): number => {
    let count = filled;
    let depth = 0;
    stack[depth++] = from;
    while (depth > 0) {
      const node = stack[--depth]!;
      if (!marks.mark(node)) continue;
      work++;
      switch (op[node]) {
        case Op.split:
          stack[depth++] = b[node]!;
          stack[depth++] = a[node]!;
          break;
        case Op.loopCheck:
          stack[depth++] = exits[node]!;
          stack[depth++] = a[node]!;
          break;
        case Op.loopEnter:
        case Op.save:
          stack[depth++] = a[node]!;
          break;
        case Op.edge:
          if (kind < 0) list[count++] = node;
          else if (holds(b[node]!, kind, next)) stack[depth++] = a[node]!;
          break;
        default:
          list[count++] = node;
      }
    }
    return count;
  };

  marks.clear();
  const startNodes = target.slice(0, close(program.start, target, 0, -1, 0));
  const isStart = new Uint8Array(program.length);
  for (const node of startNodes) isStart[node] = 1;
  const startHasEdges = startNodes.some((node) => op[node] === Op.edge);
  const startMatches = startNodes.some((node) => op[node] === Op.match);
  const hasEdges = program.edges.length > 0;
  const startKind = startHasEdges ? prevKind[endClass]! : 0;
  const table = createStateTable(width, program.length, startKind, memory);
  /** The seed of the table: nothing under way, at the start of the text. */
  const startRow = width;

  /** What beginning at a position leads to after its next byte; live when anything can begin there at all. */
  type Beginning = { nodes: Int32Array; matches: boolean; isLive: boolean };
  const beginnings: (Beginning | undefined)[] = [];

  /** Steps the resolved nodes over a class into `target`; whether a match is among the resolved. */
  const stepResolved = (next: number): boolean => {
    let matches = false;
    marks.clear();
    for (let index = 0; index < resolvedCount; index++) {
      const node = resolved[index]!;
      if (op[node] === Op.match) matches = true;
      else if (setMembers[b[node]! * width + next] === 1) targetCount = close(a[node]!, target, targetCount, -1, 0);
    }
    work += resolvedCount;
    return matches;
  };

  const dropImplied = (): void => {
    let kept = 0;
    for (let index = 0; index < targetCount; index++) {
      const node = target[index]!;
      if (isStart[node] === 0) target[kept++] = node;
    }
    targetCount = kept;
  };

  const beginning = (kind: number, next: number): Beginning => {
    const known = beginnings[kind * width + next];
    if (known !== undefined) return known;
    targetCount = 0;
    marks.clear();
    resolvedCount = 0;
    for (const node of startNodes) resolvedCount = close(node, resolved, resolvedCount, kind, next);
    const matches = stepResolved(next);
    dropImplied();
    const made = { nodes: target.slice(0, targetCount), matches, isLive: resolvedCount > 0 };
    beginnings[kind * width + next] = made;
    return made;
  };

  /** Whether a match can begin anywhere but at the very start of the text. */
  const canRestart = (() => {
    if (startNodes.some((node) => op[node] !== Op.edge)) return true;
    for (let previous = 0; previous < endClass; previous++) {
      for (let next = 0; next <= endClass; next++) {
        if (beginning(prevKind[previous]!, next).isLive) return true;
      }
    }
    return false;
  })();

  let hasMatchNow = false;

  /** Fills `target` with what the row's list becomes over a class, and `hasMatchNow` with whether it matched before it. */
  const advance = (row: number, next: number): void => {
    const kind = table.kindOf(row);
    const begin = beginning(kind, next);
    if (hasEdges) {
      const waiting = table.load(row, target);
      resolvedCount = 0;
      marks.clear();
      for (let index = 0; index < waiting; index++) {
        resolvedCount = close(target[index]!, resolved, resolvedCount, kind, next);
      }
    } else resolvedCount = table.load(row, resolved);
    targetCount = 0;
    hasMatchNow = stepResolved(next) || begin.matches;
    for (let index = 0; index < begin.nodes.length; index++) {
      const node = begin.nodes[index]!;
      // A marked node that consumes is listed already.
      if (marks.mark(node)) target[targetCount++] = node;
    }
    dropImplied();
  };

  const targetRow = (next: number): number => {
    let needsKind = startHasEdges;
    for (let index = 0; index < targetCount && !needsKind; index++) needsKind = op[target[index]!] === Op.edge;
    sortNodes(target, targetCount);
    return table.intern(target, targetCount, needsKind ? prevKind[next]! : 0);
  };

  const remember = (row: number, next: number, value: number, flushes: number): number => {
    if (table.flushes === flushes) table.transitions[row + next] = value;
    return value;
  };

  const stepForward = (row: number, next: number): number => {
    const { flushes } = table;
    work = 16;
    advance(row, next);
    if (hasMatchNow) return remember(row, next, accepted, flushes);
    if (next === endClass) return remember(row, next, dead, flushes);
    for (let index = 0; index < targetCount; index++) {
      if (op[target[index]!] === Op.match) return remember(row, next, accepted, flushes);
    }
    if (targetCount === 0 && !canRestart) return remember(row, next, dead, flushes);
    return remember(row, next, targetRow(next), flushes);
  };

  /** Backward transitions are row * 2 + whether a match begins before the byte; -1 and -2 when nothing can follow. */
  const stepBackward = (row: number, next: number): number => {
    const { flushes } = table;
    work = 16;
    advance(row, next);
    if (next === endClass || (targetCount === 0 && !canRestart)) {
      return remember(row, next, hasMatchNow ? accepted : dead, flushes);
    }
    const matched = hasMatchNow ? 1 : 0;
    return remember(row, next, targetRow(next) * 2 + matched, flushes);
  };

  /**
   * Bytes after which nothing is under way, when the text before does not matter and the others are rare: over such
   * bytes a plain search is faster than the automaton's chain of dependent loads.
   */
  const quietBytes = ((): Uint8Array | null => {
    if (startHasEdges || startMatches) return null;
    const quiet = new Uint8Array(256);
    const isQuiet = Array.from({ length: endClass }, (_, next) => beginning(startKind, next).nodes.length === 0);
    let others = 0;
    for (let byte = 0; byte < 256; byte++) {
      if (isQuiet[classOf[byte]!]) quiet[byte] = 1;
      else others += byteFrequency(byte);
    }
    return others < maxQuietInterruptions ? quiet : null;
  })();

  return {
    get bytes() {
      return table.bytes;
    },

    test(buf, start, end, budget) {
      if (startMatches) return true;
      const limit = end - start <= budget.units ? end : start + Math.floor(budget.units);
      // The start row is the lowest of all: one comparison finds it, and what is no row.
      const special = quietBytes === null ? 0 : startRow;
      let row = startRow;
      let { transitions } = table;
      let at = start;
      if (quietBytes !== null) while (at < limit && quietBytes[buf[at]!] === 1) at++;
      for (; at < limit; at++) {
        const next = classOf[buf[at]!]!;
        let value = transitions[row + next]!;
        if (value <= special) {
          if (value === 0) {
            value = stepForward(row, next);
            transitions = table.transitions;
            if (!spend(budget, work)) return false;
          }
          if (value < 0) {
            spend(budget, at - start);
            return value === accepted;
          }
          if (value === special) while (at + 1 < limit && quietBytes![buf[at + 1]!] === 1) at++;
        }
        row = value;
      }
      if (!spend(budget, at - start + (at < end ? 1 : 0))) return false;
      return (transitions[row + endClass] || stepForward(row, endClass)) === accepted;
    },

    leftmost(buf, start, end, budget, visit) {
      if (!spend(budget, end - start)) return -1;
      let row = startRow;
      let { transitions } = table;
      let leftmost = -1;
      for (let at = end; ; at--) {
        const next = at > start ? classOf[buf[at - 1]!]! : endClass;
        let value = transitions[row + next]!;
        if (value === 0) {
          value = stepBackward(row, next);
          transitions = table.transitions;
          if (!spend(budget, work)) return -1;
        }
        if (value < 0) {
          if (value === accepted) {
            leftmost = at;
            visit?.(at);
          }
          return leftmost;
        }
        if ((value & 1) === 1) {
          leftmost = at;
          visit?.(at);
        }
        row = value >> 1;
      }
    },
  };
};
