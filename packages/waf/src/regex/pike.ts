import type { BytePartition } from './byte-partition.ts';
import { createNodeMarks } from './node-marks.ts';
import { Op, type Program } from './program.ts';
import { spend, type WorkBudget } from './work-budget.ts';

/** Deeper nests of nullable loops than this, or larger products of nodes and such loops, are left to the backtracking matcher. */
const maxLoopDepth = 6;
const maxThreadStates = 400_000;

/** Whether threads of the program can be told apart in reasonable memory. */
export const hasTraceableThreads = ({ length, loopDepth }: Program): boolean =>
  loopDepth <= maxLoopDepth && length << loopDepth <= maxThreadStates;

/** Simulates all threads of a capturing program in order of priority: Perl's leftmost-first captures in linear time. */
export type Pike = {
  /**
   * Follows the match at `at` in the text `start`-`end`, which is known to end at `matchEnd`; fills `captures` with absolute
   * offsets, -1 for unset. False when the budget ran out.
   */
  capture(
    buf: Uint8Array,
    start: number,
    end: number,
    at: number,
    matchEnd: number,
    captures: Int32Array,
    budget: WorkBudget,
  ): boolean;
};

/** `slots` is twice the number of groups, the whole match included. */
export const createPike = (program: Program, partition: BytePartition, slots: number): Pike => {
  const { op, a, b, c: exits, length } = program;
  const { classOf, count: endClass, setMembers, prevKind, edgeHolds, kinds } = partition;
  const width = endClass + 1;
  // While bytes are not consumed a state is a node and the set of loops whose iteration is still empty.
  const marks = createNodeMarks(length << program.loopDepth);
  const consumers = createNodeMarks(length);
  const stack: number[] = [];
  let current = new Int32Array(length);
  let following = new Int32Array(length);
  let currentSlots = new Int32Array(length * slots);
  let followingSlots = new Int32Array(length * slots);
  let count = 0;
  let work = 0;
  const registers = new Int32Array(slots);

  const restore = -1;

  /** Adds to `list` whatever consumes, or matches, from `from` on at position `at`, in order of priority. */
  const close = (
    from: number,
    at: number,
    kind: number,
    next: number,
    list: Int32Array,
    listSlots: Int32Array,
  ): void => {
    stack.push(from, 0);
    while (stack.length > 0) {
      const mask = stack.pop()!;
      const node = stack.pop()!;
      if (node === restore) {
        registers[mask] = stack.pop()!;
        continue;
      }
      if (!marks.mark((node << program.loopDepth) | mask)) continue;
      work++;
      switch (op[node]) {
        case Op.split:
          stack.push(b[node]!, mask, a[node]!, mask);
          break;
        case Op.loopEnter:
          stack.push(a[node]!, mask | (1 << b[node]!));
          break;
        case Op.loopCheck: {
          const bit = 1 << b[node]!;
          stack.push((mask & bit) !== 0 ? exits[node]! : a[node]!, mask & ~bit);
          break;
        }
        case Op.save:
          stack.push(registers[b[node]!]!, restore, b[node]!, a[node]!, mask);
          registers[b[node]!] = at;
          break;
        case Op.edge:
          if (edgeHolds[(b[node]! * kinds + kind) * width + next] === 1) stack.push(a[node]!, mask);
          break;
        default:
          if (consumers.mark(node)) {
            listSlots.set(registers, count * slots);
            list[count++] = node;
          }
      }
    }
  };

  return {
    capture(buf, start, end, at, matchEnd, captures, budget) {
      let hasMatch = false;
      count = 0;
      work = 8;
      registers.fill(-1);
      registers[0] = at;
      marks.clear();
      consumers.clear();
      const kindAt = (position: number) => prevKind[position > start ? classOf[buf[position - 1]!]! : endClass]!;
      close(program.start, at, kindAt(at), at < end ? classOf[buf[at]!]! : endClass, current, currentSlots);
      for (let position = at; count > 0 && position <= matchEnd; position++) {
        const threads = count;
        const byteClass = position < end ? classOf[buf[position]!]! : endClass;
        const nextClass = position + 1 < end ? classOf[buf[position + 1]!]! : endClass;
        count = 0;
        marks.clear();
        consumers.clear();
        for (let thread = 0; thread < threads; thread++) {
          const node = current[thread]!;
          if (op[node] === Op.match) {
            // Threads after this one have lower priority.
            captures.set(currentSlots.subarray(thread * slots, (thread + 1) * slots));
            captures[1] = position;
            hasMatch = true;
            break;
          }
          work++;
          if (position < end && setMembers[b[node]! * width + byteClass] === 1) {
            for (let slot = 0; slot < slots; slot++) registers[slot] = currentSlots[thread * slots + slot]!;
            close(a[node]!, position + 1, prevKind[byteClass]!, nextClass, following, followingSlots);
          }
        }
        [current, following] = [following, current];
        [currentSlots, followingSlots] = [followingSlots, currentSlots];
        if (!spend(budget, work)) return false;
        work = 1;
      }
      return hasMatch;
    },
  };
};
