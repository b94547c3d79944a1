import type { EdgePairs, PcreNode } from './ast.ts';
import { boundedCounts } from './automaton-limits.ts';
import { type ByteSet, setKey } from './byte-set.ts';
import { fixedLength, minLength } from './node-facts.ts';
import { PatternError } from './pattern-error.ts';

/** Instructions of a compiled pattern; `a`, `b`, `c` and `d` are the operands, `a` being the next instruction. */
export const Op = {
  /** Consume a byte of set b. */
  set: 0,
  /** Try a, then b. */
  split: 1,
  /** Store the position in capture slot b. */
  save: 2,
  /** Go on where edge b holds. */
  edge: 3,
  /** Begin an iteration of nullable loop b. */
  loopEnter: 4,
  /** After an iteration of loop b: go on to a when it consumed something, leave to c when not. */
  loopCheck: 5,
  match: 6,
  /** Lookaround: body b; c is 1 when negative. Irregular, as are all that follow. */
  look: 7,
  /** Atomic group: body b. */
  atomic: 8,
  /** Group b again; c is 1 when caseless. */
  backreference: 9,
  /** Step b bytes back (the start of a lookbehind alternative). */
  back: 10,
  /** Consume set b between c and d times; `mode` says how. */
  repeatSet: 11,
} as const;

export const repeatModes = { greedy: 0, lazy: 1, possessive: 2 } as const;

export type Program = {
  op: Uint8Array;
  a: Int32Array;
  b: Int32Array;
  c: Int32Array;
  d: Int32Array;
  mode: Uint8Array;
  length: number;
  start: number;
  sets: ByteSet[];
  edges: EdgePairs[];
  /** How deep nullable loops are nested: the bits a position-free "this iteration is still empty" mask needs. */
  loopDepth: number;
};

/**
 * `automaton`: only regular instructions. Lookarounds and back references are let through and atomic groups are plain
 * ones, so the language can only grow. `backtracking`: everything, exactly.
 */
export type ProgramKind = 'automaton' | 'backtracking';

/** Past this many instructions the pattern is refused, as PCRE refuses what its own code size cannot hold. */
const maxInstructions = 60_000;
/** Compiles a parsed pattern; without `isCapturing` the capture slots are left out. Throws PatternError when too large. */
export const compileProgram = (root: PcreNode, kind: ProgramKind, isCapturing: boolean): Program => {
  const op: number[] = [];
  const a: number[] = [];
  const b: number[] = [];
  const c: number[] = [];
  const d: number[] = [];
  const mode: number[] = [];
  const sets: ByteSet[] = [];
  const setIndex = new Map<string, number>();
  const seenSets = new Map<ByteSet, number>();
  const edges: EdgePairs[] = [];
  let depth = 0;
  let loopDepth = 0;

  const emit = (code: number, next: number, second = 0, third = 0, fourth = 0, how = 0): number => {
    if (op.length >= maxInstructions) throw new PatternError('the pattern is too large', 0);
    a.push(next);
    b.push(second);
    c.push(third);
    d.push(fourth);
    mode.push(how);
    return op.push(code) - 1;
  };

  const indexOfSet = (set: ByteSet): number => {
    const seen = seenSets.get(set);
    if (seen !== undefined) return seen;
    const key = setKey(set);
    let index = setIndex.get(key);
    if (index === undefined) {
      index = sets.push(set) - 1;
      setIndex.set(key, index);
    }
    seenSets.set(set, index);
    return index;
  };

  const indexOfEdge = (pairs: EdgePairs): number => {
    const index = edges.indexOf(pairs);
    return index >= 0 ? index : edges.push(pairs) - 1;
  };

  const split = (preferred: number, other: number, isLazy: boolean): number =>
    isLazy ? emit(Op.split, other, preferred) : emit(Op.split, preferred, other);

  /**
   * Copies of the body, and a loop when there is no end to them. An iteration of the loop that consumes nothing ends it:
   * only that rule keeps captures and priorities of nullable bodies right.
   */
  const repeat = (node: PcreNode & { type: 'repeat' }, least: number, most: number, next: number): number => {
    const { body } = node;
    const isEmpty = fixedLength(body) === 0;
    const min = isEmpty ? Math.min(least, 1) : least;
    const max = isEmpty ? Math.min(most, 1) : most;
    const isLazy = node.mode === 'lazy';
    if (max === 0) return next;
    if (max !== Number.POSITIVE_INFINITY) {
      // As PCRE does it: copies, each of which may be empty.
      let entry = next;
      for (let copy = max; copy > min; copy--) entry = split(compile(body, entry), next, isLazy);
      for (let copy = 0; copy < min; copy++) entry = compile(body, entry);
      return entry;
    }
    const isNullable = minLength(body) === 0;
    const loop = depth;
    if (isNullable) loopDepth = Math.max(loopDepth, ++depth);
    const head = split(0, 0, false);
    const iteration = isNullable
      ? emit(Op.loopEnter, compile(body, emit(Op.loopCheck, head, loop, next)), loop)
      : compile(body, head);
    a[head] = isLazy ? next : iteration;
    b[head] = isLazy ? iteration : next;
    // `x+`: the first iteration is the loop's own body.
    let entry = min === 0 ? head : iteration;
    for (let copy = 1; copy < min; copy++) entry = compile(body, entry);
    if (isNullable) depth--;
    return entry;
  };

  const lookbehind = (body: PcreNode): number => {
    const branches = body.type === 'alternate' ? body.items : [body];
    const end = emit(Op.match, 0);
    let entry = -1;
    for (const branch of branches.toReversed()) {
      const length = fixedLength(branch);
      if (length === null) throw new PatternError('lookbehind of varying length', 0);
      const start = emit(Op.back, compile(branch, end), length);
      entry = entry < 0 ? start : emit(Op.split, start, entry);
    }
    return entry;
  };

  const compile = (node: PcreNode, next: number): number => {
    switch (node.type) {
      case 'empty':
        return next;
      case 'set':
        return emit(Op.set, next, indexOfSet(node.set));
      case 'concat': {
        let entry = next;
        for (let index = node.items.length - 1; index >= 0; index--) entry = compile(node.items[index]!, entry);
        return entry;
      }
      case 'alternate': {
        let entry = -1;
        for (let index = node.items.length - 1; index >= 0; index--) {
          const branch = compile(node.items[index]!, next);
          entry = entry < 0 ? branch : emit(Op.split, branch, entry);
        }
        return entry;
      }
      case 'repeat': {
        if (kind === 'automaton') {
          const { min, max } = boundedCounts(node);
          return repeat(node, min, max, next);
        }
        if (node.body.type === 'set') {
          const most = node.max === Number.POSITIVE_INFINITY ? 0x7fffffff : node.max;
          return emit(Op.repeatSet, next, indexOfSet(node.body.set), node.min, most, repeatModes[node.mode]);
        }
        if (node.mode !== 'possessive') return repeat(node, node.min, node.max, next);
        return emit(Op.atomic, next, repeat(node, node.min, node.max, emit(Op.match, 0)));
      }
      case 'capture':
        if (!isCapturing) return compile(node.body, next);
        return emit(Op.save, compile(node.body, emit(Op.save, next, node.index * 2 + 1)), node.index * 2);
      case 'edge':
        return emit(Op.edge, next, indexOfEdge(node.pairs));
      case 'atomic':
        if (kind === 'automaton') return compile(node.body, next);
        return emit(Op.atomic, next, compile(node.body, emit(Op.match, 0)));
      case 'look': {
        if (kind === 'automaton') return next;
        const body = node.ahead ? compile(node.body, emit(Op.match, 0)) : lookbehind(node.body);
        return emit(Op.look, next, body, node.negative ? 1 : 0);
      }
      case 'backreference':
        if (kind === 'automaton') return anything(next);
        return emit(Op.backreference, next, node.index, node.caseless ? 1 : 0);
    }
  };

  /** What a back reference may match, seen from an automaton: any bytes. */
  const anything = (next: number): number => {
    const head = split(0, next, false);
    a[head] = emit(Op.set, head, indexOfSet(new Uint32Array(8).fill(0xffffffff)));
    return head;
  };

  const start = compile(root, emit(Op.match, 0));
  return {
    op: Uint8Array.from(op),
    a: Int32Array.from(a),
    b: Int32Array.from(b),
    c: Int32Array.from(c),
    d: Int32Array.from(d),
    mode: Uint8Array.from(mode),
    length: op.length,
    start,
    sets,
    edges,
    loopDepth,
  };
};
