/** Copies src[start, end) to out[at..]; a loop below 64 bytes, because a subarray view costs more than it saves there. */
export const copyBytes = (src: Uint8Array, start: number, end: number, out: Uint8Array, at: number): void => {
  if (end - start < 64) {
    for (let from = start, to = at; from < end; from++, to++) out[to] = src[from]!;
  } else if (src === out) {
    out.copyWithin(at, start, end);
  } else {
    out.set(src.subarray(start, end), at);
  }
};
