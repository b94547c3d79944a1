import { type ByteSet, bytesOf } from './byte-set.ts';

/** Roughly how often a byte occurs in the values of ordinary requests; only the order matters. */
const frequency = new Float64Array(256).fill(0.0004);
const assign = (letters: string, share: number): void => {
  for (const letter of letters) frequency[letter.charCodeAt(0)] = share;
};
assign('etaoinsr', 0.05);
assign('hldcumfp', 0.025);
assign('gwybvk', 0.012);
assign('xjqz', 0.004);
assign('ETAOINSRHLDCUMFPGWYBVKXJQZ', 0.006);
assign('0123456789', 0.02);
assign('./-', 0.02);
assign(' =&_,;:', 0.012);
assign('%+?()"\'*', 0.003);
assign('\r\n', 0.001);

/** The share of a byte in ordinary values. */
export const byteFrequency = (byte: number): number => frequency[byte]!;

/** The share of a set of bytes. */
export const setFrequency = (set: ByteSet): number => bytesOf(set).reduce((sum, byte) => sum + frequency[byte]!, 0);

/** An estimate of how often a lower-case Latin-1 literal occurs, by chance, at a given place. */
export const literalFrequency = (literal: string): number => {
  let product = 1;
  for (let index = 0; index < literal.length; index++) {
    const byte = literal.charCodeAt(index);
    // The upper-case form counts as well.
    product *= byte >= 0x61 && byte <= 0x7a ? frequency[byte]! + frequency[byte - 32]! : frequency[byte]!;
  }
  return product;
};
