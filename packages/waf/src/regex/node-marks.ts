/** A set of small integers that empties in constant time. */
export type NodeMarks = {
  clear(): void;
  /** Marks; false when it was marked already. */
  mark(node: number): boolean;
};

export const createNodeMarks = (size: number): NodeMarks => {
  const stamps = new Int32Array(size);
  let stamp = 0;
  return {
    clear() {
      if (++stamp === 0x7fffffff) {
        stamps.fill(0);
        stamp = 1;
      }
    },
    mark(node) {
      if (stamps[node] === stamp) return false;
      stamps[node] = stamp;
      return true;
    },
  };
};
