import type { Transformation } from './transformation.ts';

const ALPHABET = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const SEXTET = new Int8Array(256).fill(-1);
for (const [value, byte] of ALPHABET.entries()) SEXTET[byte] = value;
const [CARRIAGE_RETURN, NEWLINE, PAD] = [0x0d, 0x0a, 0x3d] as const;

const decoder = (name: string, skipsForeign: boolean): Transformation => ({
  name,
  triggers: null,
  bound: (n) => n,
  apply(src, start, end, out, at) {
    if (start === end) return -1;
    let to = at;
    let bits = 0;
    let held = 0;
    for (let from = start; from < end; from++) {
      const byte = src[from]!;
      const sextet = SEXTET[byte]!;
      if (sextet >= 0) {
        held = ((held << 6) | sextet) & 0xffff;
        bits += 6;
        if (bits >= 8) {
          bits -= 8;
          out[to++] = held >> bits;
        }
      } else if (!skipsForeign && byte !== CARRIAGE_RETURN && byte !== NEWLINE) {
        break;
      }
    }
    return to - at;
  },
});

/**
 * Decodes up to the first byte that is neither of the alphabet nor a line break, as ModSecurity 2 and Coraza do.
 * ModSecurity 3 answers an empty value there, which would hide the payload from the rule.
 */
export const base64Decode = decoder('base64Decode', false);

/** Decodes and skips every byte that is not of the alphabet. */
export const base64DecodeExt = decoder('base64DecodeExt', true);

/** Encodes with padding (RFC 4648, section 4). */
export const base64Encode: Transformation = {
  name: 'base64Encode',
  triggers: new Uint8Array(256).fill(1),
  bound: (n) => Math.ceil(n / 3) * 4,
  apply(src, start, end, out, at) {
    if (start === end) return -1;
    let to = at;
    for (let from = start; from < end; from += 3) {
      const left = end - from;
      const group = (src[from]! << 16) | (left > 1 ? src[from + 1]! << 8 : 0) | (left > 2 ? src[from + 2]! : 0);
      out[to++] = ALPHABET[group >> 18]!;
      out[to++] = ALPHABET[(group >> 12) & 63]!;
      out[to++] = left > 1 ? ALPHABET[(group >> 6) & 63]! : PAD;
      out[to++] = left > 2 ? ALPHABET[group & 63]! : PAD;
    }
    return to - at;
  },
};
