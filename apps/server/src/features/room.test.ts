import { expect, test } from 'vitest';
import { createRoom } from './room.ts';

test('one more than there is room for is told to come again, and there is room as soon as one is done or fails', async () => {
  const enter = createRoom(2, 'all are busy');
  const [one, two] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const works = [enter(() => one.promise), enter(() => two.promise)];
  const third = () => enter(async () => 'third');
  await expect(third()).rejects.toMatchObject({
    status: 429,
    message: 'all are busy',
    headers: { 'retry-after': '5' },
  });
  one.resolve('first');
  expect(await works[0]).toBe('first');
  expect(await third()).toBe('third');
  const failing = enter(async () => {
    throw new Error('broken');
  });
  await expect(failing).rejects.toThrow('broken');
  expect(await third()).toBe('third');
  two.resolve('second');
  expect(await works[1]).toBe('second');
});
