import { describe, expect, test } from 'vitest';
import { ByteReader } from './byte-reader.ts';
import { createReassembly } from './fragments.ts';
import { FLAG_ABORT, FLAG_FIN } from './frame.ts';
import { Status } from './status.ts';

/** A frame of `size` bytes in the middle of a chunk, where a connection has them. */
const part = (size: number, flags = 0, [streamId, frameId]: readonly [number, number] = [1, 1], fill = 7) => {
  const chunk = Buffer.alloc(1_000 + size + 10, 1).fill(fill, 1_000, 1_000 + size);
  return {
    type: 3,
    flags,
    streamId: streamId!,
    frameId: frameId!,
    payload: new ByteReader(chunk, 1_000, 1_000 + size),
  };
};
const bytesOf = (whole: unknown) => {
  expect(whole).toBeInstanceOf(ByteReader);
  const { bytes, position, end } = whole as ByteReader;
  return [...bytes.subarray(position, end)];
};

describe('a payload in fragments', () => {
  test('is whole with its last one, and none is open then', () => {
    const { take, ...reassembly } = createReassembly(1_000);
    expect([take(part(130, 0, [1, 1], 1), false), take(part(3, 0, [1, 1], 2), true)]).toEqual(['wait', 'wait']);
    expect(bytesOf(take(part(2, FLAG_FIN, [1, 1], 3), true))).toEqual([...Array(130).fill(1), 2, 2, 2, 3, 3]);
    expect(bytesOf(take(part(4, FLAG_FIN), false))).toEqual([7, 7, 7, 7]);
    expect(reassembly.isOpen).toBe(false);
  });

  test('may be as long as the limit, each fragment counted as 128 bytes at least', () => {
    const take = (limit: number, ...sizes: number[]) => {
      const reassembly = createReassembly(limit);
      return sizes.map((size, at) => {
        const taken = reassembly.take(part(size, at === sizes.length - 1 ? FLAG_FIN : 0), at > 0);
        return typeof taken === 'string' ? taken : 'whole';
      });
    };
    expect(take(500, 200, 300)).toEqual(['wait', 'whole']);
    expect(take(499, 200, 300)).toEqual(['wait', 'refuse']);
    expect(take(256, 1, 0)).toEqual(['wait', 'whole']);
    expect(take(255, 1, 0)).toEqual(['wait', 'refuse']);
  });

  test('that was refused is skipped to its end; what belongs to another is not', () => {
    const refused = () => {
      const reassembly = createReassembly(100);
      expect(reassembly.take(part(200), false)).toBe('refuse');
      expect(reassembly.isOpen).toBe(false);
      return reassembly;
    };
    const { take } = refused();
    expect([take(part(1), true), take(part(1, FLAG_FIN), true)]).toEqual(['drop', 'drop']);
    const noBeginning = expect.objectContaining({ status: Status.frameIdNotFound });
    expect(() => take(part(1, FLAG_FIN), true)).toThrow(noBeginning);
    for (const ids of [
      [2, 1],
      [1, 2],
    ] as const)
      expect(() => refused().take(part(1, 0, ids), true)).toThrow(noBeginning);
    // Another payload that begins is the end of it.
    const next = refused();
    expect(bytesOf(next.take(part(1, FLAG_FIN, [5, 1]), false))).toEqual([7]);
    expect(() => next.take(part(1), true)).toThrow(noBeginning);
  });

  test('is forgotten where it is aborted', () => {
    const reassembly = createReassembly(1_000);
    expect([reassembly.take(part(1), false), reassembly.isOpen]).toEqual(['wait', true]);
    expect([reassembly.take(part(0, FLAG_FIN | FLAG_ABORT), true), reassembly.isOpen]).toEqual(['drop', false]);
    expect(bytesOf(reassembly.take(part(1, FLAG_FIN, [2, 1]), false))).toEqual([7]);
  });

  test('is not mixed with another', () => {
    const interlaced = expect.objectContaining({ status: Status.interlacedFrames });
    for (const [frame, isContinuation] of [
      [part(1, FLAG_FIN, [2, 1]), false],
      [part(1, 0, [1, 1]), false],
      [part(1, 0, [2, 1]), true],
      [part(1, 0, [1, 2]), true],
    ] as const) {
      const reassembly = createReassembly(1_000);
      reassembly.take(part(1), false);
      expect(() => reassembly.take(frame, isContinuation)).toThrow(interlaced);
    }
  });

  test('is refused from the first one where fragments were not announced', () => {
    const notAnnounced = expect.objectContaining({ status: Status.fragmentationNotSupported });
    expect(() => createReassembly(0).take(part(1), false)).toThrow(notAnnounced);
    expect(bytesOf(createReassembly(0).take(part(1, FLAG_FIN), false))).toEqual([7]);
  });
});
