import type { AutomatonMemory } from './automaton-memory.ts';
import type { BytePartition } from './byte-partition.ts';
import { createNodeMarks } from './node-marks.ts';
import { Op, type Program } from './program.ts';
import { createStateTable } from './state-table.ts';
import { spend, type WorkBudget } from './work-budget.ts';

/** A lazily built automaton that tells where the match that begins at a given position ends, by Perl's priorities. */
export type MatchEndDfa = {
  /** The end of the match that begins at `at`; -1 when none does. */
  matchEnd(buf: Uint8Array, start: number, end: number, at: number, budget: WorkBudget): number;
  readonly bytes: number;
};

const matchedAndDead = -2;
const dead = -1;

/**
 * A state is the list of threads in order of priority, cut after the first that has matched. An item of a list is
 * a node plus `program.length` times the set of nullable loops whose iteration is still empty.
 */
export const createMatchEndDfa = (program: Program, partition: BytePartition, memory: AutomatonMemory): MatchEndDfa => {
  const { op, a, b, c: exits, length } = program;
  const { classOf, count: endClass, setMembers, prevKind, edgeHolds, kinds } = partition;
  const width = endClass + 1;
  const table = createStateTable(width, length << program.loopDepth, 0, memory);
  const marks = createNodeMarks(length << program.loopDepth);
  const consumers = createNodeMarks(length);
  const stack: number[] = [];
  // Each node is listed once by itself, and edges once for each set of empty loops.
  const capacity = (length << program.loopDepth) + length + 1;
  const resolved = new Int32Array(capacity);
  const target = new Int32Array(capacity);
  let work = 0;

  /** Adds the items reached from `item`; with `kind` < 0 edges wait in the list. Gives -1 - count once a match is listed. */
  const close = (item: number, list: Int32Array, filled: number, kind: number, next: number): number => {
    let count = filled;
    stack.length = 0;
    stack.push(item);
    while (stack.length > 0) {
      const state = stack.pop()!;
      if (!marks.mark(state)) continue;
      work++;
      const node = state % length;
      const mask = state - node;
      switch (op[node]) {
        case Op.split:
          stack.push(mask + b[node]!, mask + a[node]!);
          break;
        case Op.save:
          stack.push(mask + a[node]!);
          break;
        case Op.loopEnter: {
          const bit = length << b[node]!;
          stack.push((Math.floor(mask / bit) % 2 === 1 ? mask : mask + bit) + a[node]!);
          break;
        }
        case Op.loopCheck: {
          const bit = length << b[node]!;
          const isEmpty = Math.floor(mask / bit) % 2 === 1;
          stack.push(isEmpty ? mask - bit + exits[node]! : mask + a[node]!);
          break;
        }
        case Op.edge:
          if (kind < 0) list[count++] = state;
          else if (edgeHolds[(b[node]! * kinds + kind) * width + next] === 1) stack.push(mask + a[node]!);
          break;
        case Op.match:
          list[count++] = node;
          return -1 - count;
        default:
          if (consumers.mark(node)) list[count++] = node;
      }
    }
    return count;
  };

  /** The row of a list with the position's previous class. */
  const rowOf = (count: number, previous: number): number => {
    for (let index = 0; index < count; index++) {
      if (op[target[index]! % length] === Op.edge) return table.intern(target, count, prevKind[previous]!);
    }
    return table.intern(target, count, 0);
  };

  const clear = (): void => {
    marks.clear();
    consumers.clear();
  };

  /** Rows by the class before the beginning, while they last. */
  const startRows = new Int32Array(width);
  let startFlushes = 0;

  const startRow = (previous: number): number => {
    if (startFlushes !== table.flushes) {
      startRows.fill(0);
      startFlushes = table.flushes;
    }
    const known = startRows[previous]!;
    if (known !== 0) return known;
    clear();
    const count = close(program.start, target, 0, -1, 0);
    const row = rowOf(count < 0 ? -1 - count : count, previous);
    if (startFlushes === table.flushes) startRows[previous] = row;
    return row;
  };

  /** The transition: row * 2 + whether the row's position matched, or one of the negative ends. */
  const step = (row: number, next: number): number => {
    const waiting = table.load(row, target);
    const kind = table.kindOf(row);
    work = 16;
    clear();
    let count = 0;
    let hasMatch = false;
    for (let index = 0; index < waiting && !hasMatch; index++) {
      count = close(target[index]!, resolved, count, kind, next);
      if (count < 0) {
        hasMatch = true;
        count = -2 - count;
      }
    }
    let filled = 0;
    clear();
    for (let index = 0; index < count && next !== endClass; index++) {
      const node = resolved[index]!;
      if (setMembers[b[node]! * width + next] !== 1) continue;
      filled = close(a[node]!, target, filled, -1, 0);
      if (filled < 0) {
        filled = -1 - filled;
        break;
      }
    }
    const { flushes } = table;
    let value = hasMatch ? matchedAndDead : dead;
    if (filled > 0) value = rowOf(filled, next) * 2 + (hasMatch ? 1 : 0);
    if (table.flushes === flushes) table.transitions[row + next] = value;
    return value;
  };

  return {
    get bytes() {
      return table.bytes;
    },

    matchEnd(buf, start, end, at, budget) {
      let row = startRow(at > start ? classOf[buf[at - 1]!]! : endClass);
      let { transitions } = table;
      let found = -1;
      for (let position = at; ; position++) {
        const next = position < end ? classOf[buf[position]!]! : endClass;
        let value = transitions[row + next]!;
        if (value === 0) {
          value = step(row, next);
          transitions = table.transitions;
          if (!spend(budget, work)) return -1;
        }
        if (value < 0) {
          if (value === matchedAndDead) found = position;
          return spend(budget, position - at + 1) ? found : -1;
        }
        if ((value & 1) === 1) found = position;
        row = value >> 1;
      }
    },
  };
};
