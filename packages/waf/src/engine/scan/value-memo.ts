/** Remembers, for values already scanned, which tests matched. Bounded in bytes; the older half is dropped as a whole. */
export type ValueMemo = {
  /** What was stored for these bytes under this class, or undefined. */
  get(classId: number, buf: Uint8Array, start: number, end: number): readonly number[] | undefined;
  set(classId: number, buf: Uint8Array, start: number, end: number, hits: readonly number[]): void;
  readonly longest: number;
};

/** Longer values seldom repeat and would push out many short ones. */
const longestValue = 512;
/** A slot is looked for in this many places; beyond, an older entry gives way. It also bounds what forged collisions can cost. */
const maxProbes = 8;

type Generation = {
  readonly slots: Int32Array;
  readonly bytes: Uint8Array;
  readonly hashes: Int32Array;
  readonly classes: Int32Array;
  readonly offsets: Int32Array;
  readonly lengths: Int32Array;
  readonly hits: (readonly number[])[];
  count: number;
  used: number;
};

const createGeneration = (maxBytes: number): Generation => {
  const entries = 2 ** Math.max(4, Math.floor(Math.log2(maxBytes / 64)));
  return {
    slots: new Int32Array(entries * 2).fill(-1),
    bytes: new Uint8Array(maxBytes),
    hashes: new Int32Array(entries),
    classes: new Int32Array(entries),
    offsets: new Int32Array(entries),
    lengths: new Int32Array(entries),
    hits: [],
    count: 0,
    used: 0,
  };
};

const empty = (generation: Generation): void => {
  generation.slots.fill(-1);
  generation.hits.length = 0;
  generation.count = 0;
  generation.used = 0;
};

const hashOf = (classId: number, buf: Uint8Array, start: number, end: number): number => {
  let hash = classId ^ (end - start);
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ buf[at]!, 0x01000193);
  return hash ^ (hash >>> 15);
};

const find = (
  generation: Generation,
  hash: number,
  classId: number,
  buf: Uint8Array,
  start: number,
  end: number,
): number => {
  const { slots, hashes, classes, lengths, offsets, bytes } = generation;
  const last = slots.length - 1;
  const length = end - start;
  for (let probe = 0; probe < maxProbes; probe++) {
    const entry = slots[(hash + probe) & last]!;
    if (entry === -1) return -1;
    if (hashes[entry] !== hash || classes[entry] !== classId || lengths[entry] !== length) continue;
    const offset = offsets[entry]!;
    let at = 0;
    while (at < length && bytes[offset + at] === buf[start + at]) at++;
    if (at === length) return entry;
  }
  return -1;
};

const insert = (
  generation: Generation,
  hash: number,
  classId: number,
  buf: Uint8Array,
  start: number,
  end: number,
  hits: readonly number[],
): boolean => {
  const length = end - start;
  const { slots, bytes } = generation;
  if (generation.count === generation.hashes.length || generation.used + length > bytes.length) return false;
  const last = slots.length - 1;
  let slot = hash & last;
  for (let probe = 0; probe < maxProbes; probe++) {
    slot = (hash + probe) & last;
    if (slots[slot] === -1) break;
  }
  const entry = generation.count++;
  slots[slot] = entry;
  generation.hashes[entry] = hash;
  generation.classes[entry] = classId;
  generation.offsets[entry] = generation.used;
  generation.lengths[entry] = length;
  generation.hits.push(hits);
  for (let at = 0; at < length; at++) bytes[generation.used + at] = buf[start + at]!;
  generation.used += length;
  return true;
};

/** A memo of at most about `maxBytes` of values. */
export const createValueMemo = (maxBytes: number): ValueMemo => {
  let young = createGeneration(maxBytes >> 1);
  let old = createGeneration(maxBytes >> 1);
  const store = (
    hash: number,
    classId: number,
    buf: Uint8Array,
    start: number,
    end: number,
    hits: readonly number[],
  ): void => {
    if (insert(young, hash, classId, buf, start, end, hits)) return;
    [young, old] = [old, young];
    empty(young);
    insert(young, hash, classId, buf, start, end, hits);
  };
  return {
    longest: longestValue,
    get(classId, buf, start, end) {
      const hash = hashOf(classId, buf, start, end);
      let entry = find(young, hash, classId, buf, start, end);
      if (entry !== -1) return young.hits[entry];
      entry = find(old, hash, classId, buf, start, end);
      if (entry === -1) return undefined;
      const hits = old.hits[entry]!;
      store(hash, classId, buf, start, end, hits);
      return hits;
    },
    set(classId, buf, start, end, hits) {
      store(hashOf(classId, buf, start, end), classId, buf, start, end, hits);
    },
  };
};
