import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { forwardLines } from './output-lines.ts';

const forward = async (chunks: readonly string[], now = () => 0) => {
  const stream = new PassThrough();
  const lines: string[] = [];
  const dropped: number[] = [];
  forwardLines(stream, { line: (line) => void lines.push(line), dropped: (count) => void dropped.push(count) }, now);
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await finished(stream);
  return { lines, dropped };
};

test('puts lines together from whatever pieces they come in', async () => {
  const { lines } = await forward(['one\ntw', 'o\n', '\nthr', 'ee']);
  expect(lines).toEqual(['one', 'two', 'three']);
});

test('cuts a line that is too long, and goes on with the next', async () => {
  const { lines } = await forward(['x'.repeat(16_383), 'y'.repeat(5_000), 'z'.repeat(5_000), '\nnext\n']);
  expect(lines).toEqual([`${'x'.repeat(16_383)}y`, 'next']);
});

test('passes a bounded number of lines per window and counts the others', async () => {
  let clock = 0;
  const burst = Array.from({ length: 80 }, (_, index) => `line ${index}\n`);
  const { lines, dropped } = await forward([...burst, 'later\n'], () => {
    clock += 1;
    // The 81st line comes long after.
    return clock > 81 ? 60_000 : 0;
  });
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toBe('later');
  expect(dropped).toEqual([30]);
});
