import { expect, test } from 'vitest';
import { checkCopies } from './copies.ts';

const now = new Date('2026-05-02T12:00:00.000Z');
const to = 'sftp://backups@nas.example.com/sallyport';

test.each([
  ['', null, true, 'backup.copy_url is not set'],
  [to, null, false, `No backup was copied to ${to} yet`],
  [to, '2026-05-01T12:00:00.000Z', true, to],
  [to, '2026-05-01T11:59:59.000Z', false, 'copy_problem'],
  [to, 'not a moment', false, 'copy_problem'],
])('copies to %j, the newest of %s: %s', (place, copied_at, ok, words) => {
  expect(checkCopies({ to: place, copied_at }, now)).toEqual({ ok, message: expect.stringContaining(words) });
});
