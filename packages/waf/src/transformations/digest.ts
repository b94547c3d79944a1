import { hash } from 'node:crypto';
import type { Transformation } from './transformation.ts';

const digest = (name: 'md5' | 'sha1', size: number): Transformation => ({
  name,
  triggers: null,
  bound: () => size,
  apply(src, start, end, out, at) {
    // As text, which Node gives without an object of its own: three times as fast as a buffer.
    const bytes = hash(name, src.subarray(start, end), 'binary');
    for (let i = 0; i < size; i++) out[at + i] = bytes.charCodeAt(i);
    return size;
  },
});

/** The raw 16 bytes of the digest; for what SecLang rules compare with (usually through hexEncode), never for secrets. */
export const md5 = digest('md5', 16);
/** The raw 20 bytes of the digest. */
export const sha1 = digest('sha1', 20);
