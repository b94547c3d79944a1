import { IS_SPACE } from '../bytes/ascii.ts';
import { copyBytes } from '../bytes/copy-bytes.ts';
import { sameLength, type Transformation } from './transformation.ts';

const trimmer = (name: string, isLeft: boolean, isRight: boolean): Transformation => ({
  name,
  triggers: IS_SPACE,
  bound: sameLength,
  apply(src, start, end, out, at) {
    let first = start;
    let last = end;
    if (isLeft) while (first < last && IS_SPACE[src[first]!] === 1) first++;
    if (isRight) while (last > first && IS_SPACE[src[last - 1]!] === 1) last--;
    if (last - first === end - start) return -1;
    copyBytes(src, first, last, out, at);
    return last - first;
  },
});

export const trim = trimmer('trim', true, true);
export const trimLeft = trimmer('trimLeft', true, false);
export const trimRight = trimmer('trimRight', false, true);
