import { getEventListeners } from 'node:events';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFairTurns, createTurnsByKey } from './in-turn.ts';

test('works with one key are done one after the other, whatever becomes of them, and those with another beside them', async () => {
  const inTurn = createTurnsByKey();
  const done: string[] = [];
  let running = 0;
  const work =
    (name: string, fails = false) =>
    async () => {
      running += 1;
      expect(running).toBe(1);
      await yieldToOthers();
      running -= 1;
      done.push(name);
      if (fails) throw new Error(name);
      return name;
    };
  const all = ['a', 'b', 'c'].map((name) => inTurn('one', work(name, name === 'b')));
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(done).toEqual(['a', 'b', 'c']);

  const blocked = Promise.withResolvers<void>();
  const slow = inTurn('one', () => blocked.promise);
  expect(await inTurn('other', async () => 'beside it')).toBe('beside it');
  const leaving = new AbortController();
  const waiting = inTurn('one', async () => 'never', leaving.signal);
  const behind = inTurn('one', async () => 'behind');
  leaving.abort(new Error('gave up'));
  await expect(waiting).rejects.toThrow('gave up');
  let isBehindDone = false;
  void behind.then(() => {
    isBehindDone = true;
  });
  await yieldToOthers();
  expect(isBehindDone).toBe(false);
  blocked.resolve();
  await slow;
  expect(await behind).toBe('behind');
});

test('a signal is left as it was: one of a whole process would gather who has had their turn', async () => {
  const inTurn = createTurnsByKey();
  const { signal } = new AbortController();
  await inTurn('one', async () => undefined, signal);
  await expect(inTurn('one', () => Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('who has much to do lets others in between', async () => {
  const inTurn = createFairTurns();
  const blocked = Promise.withResolvers<void>();
  const done: string[] = [];
  const work = (key: string, name: string) => inTurn(key, async () => void done.push(name));
  const first = inTurn('ada', () => blocked.promise);
  const rest = [work('ada', 'a2'), work('ada', 'a3'), work('ben', 'b1'), work('cleo', 'c1')];
  blocked.resolve();
  await Promise.all([first, ...rest]);
  expect(done.indexOf('b1')).toBeLessThan(done.indexOf('a2'));
  expect(done.indexOf('c1')).toBeLessThan(done.indexOf('a3'));
});
