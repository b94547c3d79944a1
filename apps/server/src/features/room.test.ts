import { expect, test } from 'vitest';
import { createRoom, createRoomByKey } from './room.ts';

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

test('who takes all the room there is for one leaves that of others', async () => {
  const enter = createRoomByKey(1, 'yours are under way');
  const slow = Promise.withResolvers<string>();
  const first = enter('ada', () => slow.promise);
  const second = () => enter('ada', async () => 'second');
  await expect(second()).rejects.toMatchObject({ status: 429, message: 'yours are under way' });
  expect(await enter('ben', async () => 'of another')).toBe('of another');
  slow.resolve('first');
  expect(await first).toBe('first');
  expect(await second()).toBe('second');
});
