import type { Transformation } from '../../transformations/transformation.ts';

/** Two buffers that transformations write to in turn. Grown to what is needed and shrunk back when that was unusual. */
export type TransformBuffers = { even: Uint8Array; odd: Uint8Array };

const usualBytes = 65_536;

export const createTransformBuffers = (): TransformBuffers => ({
  even: new Uint8Array(usualBytes),
  odd: new Uint8Array(usualBytes),
});

/** A byte range; reused, so that nothing is allocated per value. */
export type ByteRange = { buf: Uint8Array; start: number; end: number };

/** Applies one transformation to `range` in place; true when it changed the bytes. The result lies in one of `buffers`. */
export const applyTransformation = (step: Transformation, range: ByteRange, buffers: TransformBuffers): boolean => {
  const { triggers } = step;
  if (triggers !== null && !hasTrigger(triggers, range)) return false;
  const size = step.bound(range.end - range.start);
  const isEven = range.buf !== buffers.even;
  let out = isEven ? buffers.even : buffers.odd;
  if (out.length < size) {
    out = new Uint8Array(size * 2);
    if (isEven) buffers.even = out;
    else buffers.odd = out;
  }
  const written = step.apply(range.buf, range.start, range.end, out, 0);
  if (written < 0) return false;
  range.buf = out;
  range.start = 0;
  range.end = written;
  return true;
};

/** Drops buffers that one large value made grow, so that they do not stay for the life of the process. */
export const shrinkBuffers = (buffers: TransformBuffers): void => {
  if (buffers.even.length > usualBytes) buffers.even = new Uint8Array(usualBytes);
  if (buffers.odd.length > usualBytes) buffers.odd = new Uint8Array(usualBytes);
};

const hasTrigger = (triggers: Uint8Array, { buf, start, end }: ByteRange): boolean => {
  for (let at = start; at < end; at++) if (triggers[buf[at]!] !== 0) return true;
  return false;
};
