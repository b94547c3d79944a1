const chunkBytes = 16_384;
const maxPooled = 64;
const pool: Uint8Array[] = [];

/**
 * Memory of one transaction for decoded values. Bytes stay where they are until `release`, so ranges stay valid; chunks of the
 * usual size are reused by later transactions.
 */
export type Arena = {
  chunk: Uint8Array;
  /** First free byte of `chunk`. */
  at: number;
  /** Makes room for `size` bytes at `at` of `chunk`, which may be another chunk afterwards. */
  reserve(size: number): void;
  /** Gives the memory back. No range of this arena may be read after it. */
  release(): void;
};

export const createArena = (): Arena => {
  const used: Uint8Array[] = [];
  const take = (size: number): Uint8Array => {
    const chunk = size <= chunkBytes ? (pool.pop() ?? new Uint8Array(chunkBytes)) : new Uint8Array(size);
    used.push(chunk);
    return chunk;
  };
  return {
    chunk: take(chunkBytes),
    at: 0,
    reserve(size) {
      if (this.at + size <= this.chunk.length) return;
      this.chunk = take(size);
      this.at = 0;
    },
    release() {
      for (const chunk of used) if (chunk.length === chunkBytes && pool.length < maxPooled) pool.push(chunk);
      used.length = 0;
    },
  };
};
