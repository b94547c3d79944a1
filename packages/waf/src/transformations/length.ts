import type { Transformation } from './transformation.ts';

/** The number of bytes of the input, in decimal digits. */
export const length: Transformation = {
  name: 'length',
  triggers: null,
  bound: () => 16,
  apply(src, start, end, out, at) {
    const size = end - start;
    let digits = 1;
    for (let rest = size; rest >= 10; rest = (rest / 10) | 0) digits++;
    for (let i = at + digits - 1, rest = size; i >= at; i--, rest = (rest / 10) | 0) out[i] = 0x30 + (rest % 10);
    return digits === size && digits === 1 && src[start] === out[at] ? -1 : digits;
  },
};
