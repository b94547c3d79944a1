/**
 * One SecLang transformation over bytes. `apply` reads src[start, end) and writes at out[at..]; the written range must
 * not overlap the input range, and `out` must have room for `bound(end - start)` bytes.
 */
export interface Transformation {
  readonly name: string;
  /** 256 flags: an input without any flagged byte comes out as it went in. null: any input may change. */
  readonly triggers: Uint8Array | null;
  /** The most bytes that `n` input bytes can become. */
  bound(n: number): number;
  /** Bytes written, or -1 when the output equals the input (what lies at `out` is then unspecified). */
  apply(src: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number;
}

/** The bound of every transformation that only maps or removes bytes. */
export const sameLength = (n: number): number => n;

/** 256 flags with 1 for each char code of `bytes`. */
export const flagBytes = (bytes: string): Uint8Array => {
  const flags = new Uint8Array(256);
  for (let i = 0; i < bytes.length; i++) flags[bytes.charCodeAt(i)] = 1;
  return flags;
};
