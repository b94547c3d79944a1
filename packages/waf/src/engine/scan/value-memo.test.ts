import { expect, test } from 'vitest';
import { createValueMemo } from './value-memo.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** A memo that is asked about the part of a longer text that a value is. */
const given = (maxBytes: number) => {
  const memo = createValueMemo(maxBytes);
  const place = (value: string) => ({ buf: bytes(`before${value}after`), start: 6, end: 6 + value.length });
  return {
    set(classId: number, value: string, hits: readonly number[]): void {
      const { buf, start, end } = place(value);
      memo.set(classId, buf, start, end, hits);
    },
    get(classId: number, value: string) {
      const { buf, start, end } = place(value);
      return memo.get(classId, buf, start, end);
    },
  };
};

test('what is remembered is of this very value and class, however many others there are', () => {
  const { set, get } = given(20_000);
  const truth = new Map<string, readonly number[]>();
  let wrong = 0;
  // Short values of few letters under many classes: they share places, and are the beginnings of one another.
  for (let round = 0; round < 40_000; round++) {
    const classId = (round * 7) % 23;
    const value = ((round * 2_654_435_761) % 4_096).toString(2).slice(0, 1 + (round % 12));
    const key = `${classId} ${value}`;
    const found = get(classId, value);
    if (found !== undefined && found !== truth.get(key)) wrong++;
    if (found !== undefined) continue;
    const hits = [round];
    truth.set(key, hits);
    set(classId, value, hits);
  }
  expect(wrong).toBe(0);
});

test('nothing is known before it was said, and one value under another class is another', () => {
  const { set, get } = given(1_000);
  expect(get(1, 'a')).toBeUndefined();
  set(1, 'a', [7]);
  expect([get(1, 'a'), get(2, 'a'), get(1, 'ab'), get(1, '')]).toEqual([[7], undefined, undefined, undefined]);
});

test('the newest are remembered, and so is what is asked for again, however much comes', () => {
  const { set, get } = given(1_000_000);
  const hits = [3];
  set(0, 'kept', hits);
  for (let id = 0; id < 100_000; id++) {
    set(0, `value number ${id}`, [id]);
    if (id % 1_000 === 0) expect(get(0, 'kept')).toBe(hits);
  }
  let lost = 0;
  for (let id = 98_000; id < 100_000; id++) if (get(0, `value number ${id}`)?.[0] !== id) lost++;
  // Places are looked for, and not taken from others; where many are alike an older one gives way.
  expect(lost).toBeLessThan(50);
  // Not all there ever was.
  expect(get(0, 'value number 1')).toBeUndefined();
});

test('what does not fit is not remembered, and takes nothing from what does', () => {
  const { set, get } = given(2_000);
  set(0, 'x'.repeat(1_001), [1]);
  expect(get(0, 'x'.repeat(1_001))).toBeUndefined();
  set(0, 'x'.repeat(1_000), [2]);
  expect(get(0, 'x'.repeat(1_000))).toEqual([2]);
  // Two of them do not fit into one half.
  set(0, 'y'.repeat(1_000), [3]);
  expect([get(0, 'x'.repeat(1_000)), get(0, 'y'.repeat(1_000))]).toEqual([[2], [3]]);
});
