import { createHash } from 'node:crypto';
import type { Transformation } from './transformation.ts';

const digest = (name: 'md5' | 'sha1', size: number): Transformation => ({
  name,
  triggers: null,
  bound: () => size,
  apply(src, start, end, out, at) {
    out.set(createHash(name).update(src.subarray(start, end)).digest(), at);
    return size;
  },
});

/** The raw 16 bytes of the digest; for what SecLang rules compare with (usually through hexEncode), never for secrets. */
export const md5 = digest('md5', 16);
/** The raw 20 bytes of the digest. */
export const sha1 = digest('sha1', 20);
