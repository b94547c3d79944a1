import { type AutomatonMemory, frugalBytes, generousBytes, resizeShare, shareMemory } from './automaton-memory.ts';

/**
 * The states of a lazily built automaton: rows of a transition table, each with the sorted or ordered list of program
 * nodes and the context it stands for. Row offsets are multiples of `width`; row 0 is never a state, so that 0 can mean
 * "not known yet". All memory is counted; where too much would be held the table forgets everything.
 */
export type StateTable = {
  /** Changes identity when the table grows: read it again after `intern`. */
  readonly transitions: Int32Array;
  /** Counts how often everything was forgotten; row offsets from before are void. */
  readonly flushes: number;
  readonly bytes: number;
  /** Copies the list of a row; gives its length. */
  load(row: number, into: Int32Array): number;
  kindOf(row: number): number;
  /** The row of this state, made when new. */
  intern(nodes: Int32Array, count: number, kind: number): number;
};

const firstRows = 8;
const firstItems = 64;
/** What a state occupies besides its transitions and list: hash, offset, kind. */
const bytesPerState = 24;

type ItemArray = Uint16Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

const maxShortItem = 0xffff;

/** `maxItem` is the largest number a list may hold, `seedKind` the context of the state with the empty list: it is there from the beginning, as row 1. */
export const createStateTable = (
  width: number,
  maxItem: number,
  seedKind: number,
  memory: AutomatonMemory,
): StateTable => {
  let transitions: Int32Array = new Int32Array(0);
  /** The lists of all rows; that of a row ends where the next begins. */
  const newItems = (length: number): ItemArray =>
    maxItem <= maxShortItem ? new Uint16Array(length) : new Int32Array(length);
  let items = newItems(0);
  let offsets: number[] = [];
  let kinds: number[] = [];
  let hashes: number[] = [];
  let buckets = new Int32Array(0);
  let rows = 1;
  let filled = 0;
  let flushes = 0;
  const { share, ownedBy } = shareMemory(memory);

  const hashOf = (nodes: Int32Array, count: number, kind: number): number => {
    let hash = kind + 0x9e37;
    for (let index = 0; index < count; index++) hash = Math.imul(hash ^ nodes[index]!, 0x01000193) ^ (hash >>> 15);
    return hash ^ (hash >>> 13);
  };

  const place = (row: number): void => {
    const mask = buckets.length - 1;
    let slot = hashes[row]! & mask;
    while (buckets[slot] !== 0) slot = (slot + 1) & mask;
    buckets[slot] = row;
  };

  const doubled = (array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
    const wider = new Int32Array(array.length * 2);
    wider.set(array);
    return wider;
  };

  const totalBytes = (): number => (transitions.length + buckets.length) * 4 + items.byteLength + rows * bytesPerState;

  const add = (nodes: Int32Array, length: number, hash: number, kind: number): number => {
    while (filled + length > items.length) {
      const wider = newItems(items.length * 2);
      wider.set(items);
      items = wider;
    }
    for (let index = 0; index < length; index++) items[filled + index] = nodes[index]!;
    filled += length;
    const row = rows++;
    offsets.push(filled);
    kinds.push(kind);
    hashes.push(hash);
    if (rows * 2 > buckets.length) {
      buckets = new Int32Array(buckets.length * 2);
      for (let other = 1; other < rows; other++) place(other);
    } else place(row);
    if (rows * width > transitions.length) transitions = doubled(transitions as Int32Array<ArrayBuffer>);
    resizeShare(share, totalBytes());
    return row * width;
  };

  const nothing = new Int32Array(0);

  const reset = (): void => {
    transitions = new Int32Array(firstRows * width);
    items = newItems(firstItems);
    offsets = [0];
    kinds = [0];
    hashes = [0];
    buckets = new Int32Array(firstRows * 2);
    rows = 1;
    filled = 0;
    add(nothing, 0, hashOf(nothing, 0, seedKind), seedKind);
  };

  const isState = (row: number, nodes: Int32Array, length: number, kind: number): boolean => {
    const begin = offsets[row - 1]!;
    if (kinds[row] !== kind || offsets[row]! - begin !== length) return false;
    for (let index = 0; index < length; index++) if (items[begin + index] !== nodes[index]) return false;
    return true;
  };

  reset();
  const table: StateTable = {
    get transitions() {
      return transitions;
    },
    get flushes() {
      return flushes;
    },
    get bytes() {
      return totalBytes();
    },

    load(row, into) {
      const begin = offsets[row / width - 1]!;
      const length = offsets[row / width]! - begin;
      for (let index = 0; index < length; index++) into[index] = items[begin + index]!;
      return length;
    },

    kindOf: (row) => kinds[row / width]!,

    intern(nodes, length, kind) {
      const hash = hashOf(nodes, length, kind);
      const mask = buckets.length - 1;
      for (let slot = hash & mask; buckets[slot] !== 0; slot = (slot + 1) & mask) {
        const row = buckets[slot]!;
        if (hashes[row] === hash && isState(row, nodes, length, kind)) return row * width;
      }
      const growth =
        ((rows + 1) * width > transitions.length ? transitions.length * 4 : 0) +
        (filled + length > items.length ? items.byteLength : 0);
      const most = memory.used > memory.limit ? frugalBytes : generousBytes;
      if (totalBytes() + growth > most && rows > 3) {
        reset();
        flushes++;
      }
      return add(nodes, length, hash, kind);
    },
  };
  ownedBy(table);
  return table;
};
