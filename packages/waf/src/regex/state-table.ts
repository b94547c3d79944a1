/**
 * The states of a lazily built automaton: rows of a transition table, each with the sorted or ordered list of
 * program nodes and the context it stands for. Row offsets are multiples of `width`; row 0 is never a state, so that 0 can mean
 * "not known yet". All memory is counted; when `maxBytes` would be passed the table forgets everything.
 */
export type StateTable = {
  /** Changes identity when the table grows: read it again after `intern`. */
  readonly transitions: Int32Array;
  /** Counts how often everything was forgotten; row offsets from before are void. */
  readonly flushes: number;
  readonly bytes: number;
  nodesOf(row: number): Int32Array;
  kindOf(row: number): number;
  /** The row of this state, made when new. */
  intern(nodes: Int32Array, count: number, kind: number): number;
};

const firstRows = 8;

export const createStateTable = (width: number, maxBytes: number): StateTable => {
  let transitions = new Int32Array(0);
  let rows = 1;
  let lists: Int32Array[] = [];
  let kinds: number[] = [];
  let hashes: number[] = [];
  let buckets = new Int32Array(0);
  let listBytes = 0;
  let flushes = 0;

  const reset = (): void => {
    transitions = new Int32Array(firstRows * width);
    rows = 1;
    lists = [new Int32Array(0)];
    kinds = [0];
    hashes = [0];
    buckets = new Int32Array(firstRows * 2);
    listBytes = 0;
  };

  const totalBytes = (): number => (transitions.length + buckets.length) * 4 + listBytes;

  const place = (row: number): void => {
    const mask = buckets.length - 1;
    let slot = hashes[row]! & mask;
    while (buckets[slot] !== 0) slot = (slot + 1) & mask;
    buckets[slot] = row;
  };

  const grow = (): void => {
    if (rows * width === transitions.length) {
      const wider = new Int32Array(transitions.length * 2);
      wider.set(transitions);
      transitions = wider;
    }
    if (rows * 2 > buckets.length) {
      buckets = new Int32Array(buckets.length * 2);
      for (let row = 1; row < rows; row++) place(row);
    }
  };

  const isState = (row: number, nodes: Int32Array, count: number, kind: number): boolean => {
    const list = lists[row]!;
    if (kinds[row] !== kind || list.length !== count) return false;
    for (let index = 0; index < count; index++) if (list[index] !== nodes[index]) return false;
    return true;
  };

  reset();
  return {
    get transitions() {
      return transitions;
    },
    get flushes() {
      return flushes;
    },
    get bytes() {
      return totalBytes();
    },
    nodesOf: (row) => lists[row / width]!,
    kindOf: (row) => kinds[row / width]!,
    intern(nodes, count, kind) {
      let hash = kind + 0x9e37;
      for (let index = 0; index < count; index++) hash = Math.imul(hash ^ nodes[index]!, 0x01000193) ^ (hash >>> 15);
      hash ^= hash >>> 13;
      const mask = buckets.length - 1;
      for (let slot = hash & mask; buckets[slot] !== 0; slot = (slot + 1) & mask) {
        const row = buckets[slot]!;
        if (hashes[row] === hash && isState(row, nodes, count, kind)) return row * width;
      }
      // A list costs its array's header as well.
      const cost = count * 4 + 96;
      const nextBytes = rows * width === transitions.length ? transitions.length * 4 : 0;
      if (totalBytes() + nextBytes + cost > maxBytes && rows > 2) {
        reset();
        flushes++;
      }
      const row = rows++;
      lists.push(nodes.slice(0, count));
      kinds.push(kind);
      hashes.push(hash);
      listBytes += cost;
      place(row);
      grow();
      return row * width;
    },
  };
};
