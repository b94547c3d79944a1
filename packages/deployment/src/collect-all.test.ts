import { setImmediate as turn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { collectAll } from './collect-all.ts';

test('gives back what nobody holds any more, and leaves no way to collect behind', async () => {
  const forgotten = new WeakRef({ name: 'forgotten' });
  const held = { name: 'held' };
  const kept = new WeakRef(held);
  // A reference is held until the turn that made it is over.
  await turn();
  collectAll();
  expect(forgotten.deref()).toBeUndefined();
  expect(kept.deref()).toBe(held);
  expect(runInNewContext('typeof gc')).toBe('undefined');
});
