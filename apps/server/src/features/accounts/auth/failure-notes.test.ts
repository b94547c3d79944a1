import { setImmediate } from 'node:timers/promises';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { expect, test } from 'vitest';
import { createFailureNotes } from './failure-notes.ts';

test('lists failures one by one, counts a flood, and lists again when it is over', async () => {
  let now = 1_000_000;
  const notes: [string, unknown][] = [];
  const noteFailure = createFailureNotes({
    async note({ action, after }: ChangeEntry) {
      // As a store does, it takes a moment: who does not wait for it answers before it is written down.
      await setImmediate();
      notes.push([action, after]);
    },
    clock: () => new Date(now),
    maxListed: 3,
  });
  const fail = (n: number) =>
    noteFailure({ action: 'auth.login_failed', actor: systemActor('test'), resource: 'auth/login', after: { n } });
  for (let n = 0; n < 4; n += 1) await fail(n);
  expect(notes).toHaveLength(4);
  now += 15 * 60_000 - 1;
  for (let n = 4; n < 10; n += 1) await fail(n);
  expect(notes).toEqual([
    ['auth.login_failed', { n: 0 }],
    ['auth.login_failed', { n: 1 }],
    ['auth.login_failed', { n: 2 }],
    ['auth.failures_counted', { listed: 3 }],
  ]);
  now += 1;
  notes.length = 0;
  await fail(10);
  expect(notes).toEqual([
    ['auth.failures_counted', { not_listed: 7 }],
    ['auth.login_failed', { n: 10 }],
  ]);
  now += 15 * 60_000;
  notes.length = 0;
  await fail(11);
  expect(notes).toEqual([['auth.login_failed', { n: 11 }]]);
});
