/** Finds which of many literals occur in a text, in one pass. */
export type AhoCorasick = {
  /**
   * Sets the bit of every literal that occurs in the range; `hits` has `hitWords` words, and is not cleared first. Gives
   * whether there was any.
   */
  scan(buf: Uint8Array, start: number, end: number, hits: Uint32Array): boolean;
  /** The index of a literal that ends earliest in the range (the longest of those), or -1. */
  first(buf: Uint8Array, start: number, end: number): number;
  /** Words that a bitset by literal index needs. */
  readonly hitWords: number;
  readonly bytes: number;
};

const foldByte = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte);

const compareBytes = (one: Uint8Array, other: Uint8Array): number => Buffer.compare(one, other);

/** Nodes of the trie of sorted literals, the root included. */
const countNodes = (sorted: Uint8Array[]): number => {
  let nodes = 1;
  let previous = new Uint8Array(0);
  for (const literal of sorted) {
    let shared = 0;
    while (shared < previous.length && shared < literal.length && previous[shared] === literal[shared]) shared++;
    nodes += literal.length - shared;
    previous = Uint8Array.from(literal);
  }
  return nodes;
};

/**
 * Builds the automaton, dense over the classes of bytes that the literals tell apart. With `caseless` both sides are
 * folded (ASCII). Equal literals are all reported; an empty one occurs everywhere.
 */
export const buildAhoCorasick = (literals: Uint8Array[], { caseless }: { caseless: boolean }): AhoCorasick => {
  const folded = caseless ? literals.map((literal) => literal.map(foldByte)) : literals;
  const classOf = new Uint8Array(256);
  let width = 1;
  for (const literal of folded) {
    for (const byte of literal) if (classOf[byte] === 0) classOf[byte] = width++ & 0xff;
  }
  if (width > 256) {
    // Every byte value occurs: each is its own class, and there is no class for the rest.
    for (let byte = 0; byte < 256; byte++) classOf[byte] = byte;
    width = 256;
  }

  const stride = width + 1;
  const nodeCount = countNodes(folded.toSorted(compareBytes));
  const next = new Int32Array(nodeCount * stride);
  /** The literal that ends at a node, plus one; the equal literal before it, plus one. */
  const literalAt = new Int32Array(nodeCount);
  const equalBefore = new Int32Array(literals.length);
  const always: number[] = [];
  let nodes = 1;
  folded.forEach((literal, index) => {
    let node = 0;
    for (const byte of literal) {
      const slot = node * stride + classOf[byte]!;
      if (next[slot] === 0) next[slot] = nodes++;
      node = next[slot]!;
    }
    if (node === 0) {
      always.push(index);
      return;
    }
    equalBefore[index] = literalAt[node]!;
    literalAt[node] = index + 1;
  });

  /** The longest proper suffix of a node at which a literal ends; 0 when none. */
  const shorterOutput = new Int32Array(nodeCount);
  const failure = new Int32Array(nodeCount);
  const queue = new Int32Array(nodeCount);
  let firstOutput = 0;
  let head = 0;
  let tail = 0;
  for (let kind = 0; kind < width; kind++) if (next[kind] !== 0) queue[tail++] = next[kind]!;
  while (head < tail) {
    const node = queue[head++]!;
    const suffix = failure[node]!;
    shorterOutput[node] = literalAt[suffix] !== 0 ? suffix : shorterOutput[suffix]!;
    for (let kind = 0; kind < width; kind++) {
      const child = next[node * stride + kind]!;
      const fallback = next[suffix * stride + kind]!;
      if (child === 0) next[node * stride + kind] = fallback;
      else {
        failure[child] = fallback;
        queue[tail++] = child;
      }
    }
  }
  // Rows in the order of the search from the root, which keeps those in use together, nodes where something ends last:
  // then one comparison for each byte finds them. The last column of a row is its node. Rows are numbered, not
  // addressed, so that nearly all tables fit in 16 bits: half the memory, and more of it in the processor's cache.
  const hasOutput = (node: number): boolean => literalAt[node] !== 0 || shorterOutput[node] !== 0;
  const rowOf = new Int32Array(nodeCount);
  let rows = 1;
  for (const isOutput of [false, true]) {
    if (isOutput) firstOutput = rows;
    for (let at = 0; at < tail; at++) if (hasOutput(queue[at]!) === isOutput) rowOf[queue[at]!] = rows++;
  }
  const table = nodeCount <= 0x10000 ? new Uint16Array(nodeCount * stride) : new Int32Array(nodeCount * stride);
  for (let node = 0; node < nodeCount; node++) {
    const row = rowOf[node]! * stride;
    for (let kind = 0; kind < width; kind++) table[row + kind] = rowOf[next[node * stride + kind]!]!;
    table[row + width] = node;
  }
  if (caseless) for (let byte = 0x41; byte <= 0x5a; byte++) classOf[byte] = classOf[byte + 32]!;

  const report = (from: number, hits: Uint32Array): void => {
    for (let node = literalAt[from] !== 0 ? from : shorterOutput[from]!; node !== 0; node = shorterOutput[node]!) {
      let index = literalAt[node]! - 1;
      // Whoever set this bit has set those of all its suffixes too.
      if (((hits[index >> 5]! >>> (index & 31)) & 1) === 1) return;
      for (; index >= 0; index = equalBefore[index]! - 1) hits[index >> 5]! |= 1 << (index & 31);
    }
  };

  return {
    hitWords: (literals.length + 31) >> 5,
    bytes: table.byteLength + (nodeCount * 2 + literals.length) * 4,

    scan(buf, start, end, hits) {
      for (const index of always) hits[index >> 5]! |= 1 << (index & 31);
      let hasHits = always.length > 0;
      let state = 0;
      for (let at = start; at < end; at++) {
        state = table[state * stride + classOf[buf[at]!]!]!;
        if (state >= firstOutput) {
          hasHits = true;
          report(table[state * stride + width]!, hits);
        }
      }
      return hasHits;
    },

    first(buf, start, end) {
      if (always.length > 0) return always[0]!;
      let state = 0;
      for (let at = start; at < end; at++) {
        state = table[state * stride + classOf[buf[at]!]!]!;
        if (state >= firstOutput) {
          const node = table[state * stride + width]!;
          return literalAt[literalAt[node] !== 0 ? node : shorterOutput[node]!]! - 1;
        }
      }
      return -1;
    },
  };
};
