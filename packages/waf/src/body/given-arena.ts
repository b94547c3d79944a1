import type { ByteArena, ByteSpan } from './sink.ts';

/** An arena with small chunks, so that tests meet the change from one to the next. */
export const givenArena = (chunkBytes = 64): ByteArena & { readonly used: number } => {
  let used = 0;
  return {
    chunk: new Uint8Array(chunkBytes),
    at: 0,
    get used() {
      return used;
    },
    reserve(size) {
      used += size;
      if (this.at + size <= this.chunk.length) return;
      this.chunk = new Uint8Array(Math.max(size, chunkBytes));
      this.at = 0;
    },
  };
};

export const textOf = (span: ByteSpan | null): string =>
  span === null ? '' : Buffer.from(span.buf.subarray(span.start, span.end)).toString('latin1');
