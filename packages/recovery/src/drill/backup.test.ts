import { expect, test } from 'vitest';
import { checkBackup } from './backup.ts';

const now = new Date('2026-05-02T12:00:00.000Z');

test.each([
  [null, false],
  ['2026-05-02T11:00:00.000Z', true],
  ['2026-05-01T12:00:00.000Z', true],
  ['2026-05-01T11:59:59.000Z', false],
  ['not a moment', false],
])('a newest verified backup of %s: %s', (created_at, ok) => {
  const newest = created_at === null ? null : { name: 'b', created_at };
  const { ok: is, message } = checkBackup(newest, now);
  expect(is).toBe(ok);
  // Whoever is told that something is amiss is told what to do.
  expect(message.includes('"sallyport backup create"')).toBe(!ok);
});
