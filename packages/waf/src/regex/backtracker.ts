import { hasByte } from './byte-set.ts';
import { Op, type Program, repeatModes } from './program.ts';
import { spend, type WorkBudget } from './work-budget.ts';

/** Runs a whole program, lookarounds and back references included, by backtracking. Every step is paid from the budget. */
export type Backtracker = {
  /** Starts a search over a text: what was learnt about the previous one is forgotten. */
  begin(): void;
  /**
   * Matches at exactly `at` in the text `start`-`end`; fills `captures` with absolute offsets, -1 for unset, and tells
   * whether it matched. The failures of earlier starts of the search are remembered, so that they are not tried twice.
   */
  matchAt(buf: Uint8Array, start: number, end: number, at: number, captures: Int32Array, budget: WorkBudget): boolean;
};

/** How many failed states one search remembers; beyond, only the budget bounds it. */
const maxRemembered = 200_000;

/** Loops whose emptiness fits the key of a remembered state. */
const maxMaskedLoops = 6;

const fold = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);

/** Entries of the choice stack are four numbers: what, and three values. */
const choice = 0;
const restoreCapture = 1;
const restoreLoop = 2;
const greedyRun = 3;
const lazyRun = 4;

/** `slots` is twice the number of groups; `isMemoised` false gives the naive matcher, whose step count the lint measures. */
export const createBacktracker = (program: Program, slots: number, isMemoised = true): Backtracker => {
  const { op, a, b, c, d, mode } = program;
  // What a back reference matches depends on more than node and position.
  const isRemembering = isMemoised && !op.includes(Op.backreference) && program.loopDepth <= maxMaskedLoops;
  const members = program.sets.map((set) =>
    Uint8Array.from({ length: 256 }, (_, byte) => (hasByte(set, byte) ? 1 : 0)),
  );
  const loops = new Int32Array(program.loopDepth);
  const sides = program.edges.map((pairs) =>
    pairs.map(({ before, after }) => ({
      before: Uint8Array.from({ length: 257 }, (_, byte) =>
        Number(byte > 255 ? before.boundary : hasByte(before.bytes, byte)),
      ),
      after: Uint8Array.from({ length: 257 }, (_, byte) =>
        Number(byte > 255 ? after.boundary : hasByte(after.bytes, byte)),
      ),
    })),
  );
  const outer = new Set<number>();
  let stack = new Int32Array(1024);
  let top = 0;
  let registers: Int32Array = new Int32Array(slots);
  let bytes: Uint8Array = new Uint8Array(0);
  let first = 0;
  let last = 0;
  let allowance: WorkBudget = { units: 0, exceeded: false };

  const push = (what: number, one: number, two: number, three: number): void => {
    if (top + 4 > stack.length) {
      const wider = new Int32Array(stack.length * 2);
      wider.set(stack);
      stack = wider;
    }
    stack[top] = what;
    stack[top + 1] = one;
    stack[top + 2] = two;
    stack[top + 3] = three;
    top += 4;
  };

  const edgeHolds = (edge: number, at: number): boolean => {
    const before = at > first ? bytes[at - 1]! : 256;
    const after = at < last ? bytes[at]! : 256;
    return sides[edge]!.some((pair) => pair.before[before] === 1 && pair.after[after] === 1);
  };

  /** Undoes the stores above `base` and drops everything there. */
  const unwind = (base: number): void => {
    while (top > base) {
      top -= 4;
      if (stack[top] === restoreCapture) registers[stack[top + 1]!] = stack[top + 2]!;
      else if (stack[top] === restoreLoop) loops[stack[top + 1]!] = stack[top + 2]!;
    }
  };

  /** Keeps what is needed to undo the stores above `base`, and drops the choices: the group is atomic. */
  const commit = (base: number): void => {
    let kept = base;
    for (let entry = base; entry < top; entry += 4) {
      if (stack[entry] !== restoreCapture && stack[entry] !== restoreLoop) continue;
      stack.copyWithin(kept, entry, entry + 4);
      kept += 4;
    }
    top = kept;
  };

  const referenced = (group: number, isCaseless: boolean, at: number): number => {
    const from = registers[group * 2]!;
    const to = registers[group * 2 + 1]!;
    if (from < 0 || to < 0 || at + to - from > last) return -1;
    for (let index = 0; index < to - from; index++) {
      const one = bytes[from + index]!;
      const other = bytes[at + index]!;
      if (one !== other && !(isCaseless && fold(one) === fold(other))) return -1;
    }
    return at + to - from;
  };

  /** Remembers the state; true when it was tried before, and so failed: only a failure makes a run come by again. */
  const isKnownFailure = (node: number, at: number, known: Set<number>): boolean => {
    if (!isRemembering || known.size >= maxRemembered) return false;
    let emptyLoops = 0;
    for (let loop = 0; loop < loops.length; loop++) if (loops[loop] === at) emptyLoops |= 1 << loop;
    const key = ((at - first) * program.length + node) * (1 << maxMaskedLoops) + emptyLoops;
    if (known.has(key)) return true;
    known.add(key);
    return false;
  };

  /** Runs from `entry` at `from` until its match instruction; the end position, or -1 with everything undone. */
  const run = (entry: number, from: number, known: Set<number>): number => {
    const base = top;
    let node = entry;
    let at = from;
    for (;;) {
      if (!spend(allowance, 1)) {
        unwind(base);
        return -1;
      }
      let isFailed = false;
      switch (op[node]) {
        case Op.set:
          if (at < last && members[b[node]!]![bytes[at]!] === 1) {
            at++;
            node = a[node]!;
          } else isFailed = true;
          break;
        case Op.split:
          if (isKnownFailure(node, at, known)) {
            isFailed = true;
            break;
          }
          push(choice, b[node]!, at, 0);
          node = a[node]!;
          break;
        case Op.save:
          push(restoreCapture, b[node]!, registers[b[node]!]!, 0);
          registers[b[node]!] = at;
          node = a[node]!;
          break;
        case Op.edge:
          if (edgeHolds(b[node]!, at)) node = a[node]!;
          else isFailed = true;
          break;
        case Op.loopEnter:
          push(restoreLoop, b[node]!, loops[b[node]!]!, 0);
          loops[b[node]!] = at;
          node = a[node]!;
          break;
        case Op.loopCheck: {
          const isEmpty = loops[b[node]!] === at;
          push(restoreLoop, b[node]!, loops[b[node]!]!, 0);
          loops[b[node]!] = -1;
          node = isEmpty ? c[node]! : a[node]!;
          break;
        }
        case Op.match:
          return at;
        case Op.look: {
          const mark = top;
          const end = run(b[node]!, at, new Set());
          if (allowance.exceeded) {
            unwind(base);
            return -1;
          }
          if (c[node] === 1) {
            if (end >= 0) unwind(mark);
            isFailed = end >= 0;
          } else if (end >= 0) commit(mark);
          else isFailed = true;
          if (!isFailed) node = a[node]!;
          break;
        }
        case Op.atomic: {
          const mark = top;
          const end = run(b[node]!, at, new Set());
          if (end < 0) isFailed = true;
          else {
            commit(mark);
            at = end;
            node = a[node]!;
          }
          break;
        }
        case Op.backreference: {
          const end = referenced(b[node]!, c[node] === 1, at);
          if (end < 0 || !spend(allowance, end - at)) isFailed = true;
          else {
            at = end;
            node = a[node]!;
          }
          break;
        }
        case Op.back:
          at -= b[node]!;
          if (at < first) isFailed = true;
          else node = a[node]!;
          break;
        case Op.repeatSet: {
          const set = members[b[node]!]!;
          const least = at + c[node]!;
          const most = Math.min(last, at + d[node]!);
          if (least > last || isKnownFailure(node, at, known)) {
            isFailed = true;
            break;
          }
          const isLazy = mode[node] === repeatModes.lazy;
          const goal = isLazy ? least : most;
          const begun = at;
          while (at < goal && set[bytes[at]!] === 1) at++;
          spend(allowance, at - begun);
          if (at < least) isFailed = true;
          else {
            if (isLazy) push(lazyRun, node, at, most);
            else if (mode[node] === repeatModes.greedy && at > least) push(greedyRun, node, at, least);
            node = a[node]!;
          }
          break;
        }
      }
      if (!isFailed) continue;

      // Back to the latest choice of this run.
      let isResumed = false;
      while (top > base && !isResumed) {
        top -= 4;
        const one = stack[top + 1]!;
        const two = stack[top + 2]!;
        const three = stack[top + 3]!;
        switch (stack[top]) {
          case choice:
            node = one;
            at = two;
            isResumed = true;
            break;
          case restoreCapture:
            registers[one] = two;
            break;
          case restoreLoop:
            loops[one] = two;
            break;
          case greedyRun:
            // `two` is where the run ended last time, `three` where it may end at the earliest.
            at = two - 1;
            if (at > three) push(greedyRun, one, at, three);
            node = a[one]!;
            isResumed = true;
            break;
          default:
            // Lazy: one byte more, when there is one.
            if (two < three && members[b[one]!]![bytes[two]!] === 1) {
              at = two + 1;
              push(lazyRun, one, at, three);
              node = a[one]!;
              isResumed = true;
            }
        }
      }
      if (!isResumed) return -1;
    }
  };

  return {
    begin: () => outer.clear(),
    matchAt(buf, start, end, at, captures, budget) {
      bytes = buf;
      first = start;
      last = end;
      allowance = budget;
      top = 0;
      registers = captures;
      registers.fill(-1);
      loops.fill(-1);
      registers[0] = at;
      const matchEnd = run(program.start, at, outer);
      top = 0;
      if (matchEnd < 0 || budget.exceeded) return false;
      registers[1] = matchEnd;
      return true;
    },
  };
};
