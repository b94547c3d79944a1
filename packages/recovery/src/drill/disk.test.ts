import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { checkDisk, checkRoom } from './disk.ts';

const MIB_IN_BLOCKS = 256;

test.each([
  ['5 MiB', { bavail: 5 * MIB_IN_BLOCKS }, true, '5 MiB are free on the disk of /data'],
  ['4 MiB', { bavail: 4 * MIB_IN_BLOCKS }, true, '4 MiB are free'],
  ['a block less', { bavail: 4 * MIB_IN_BLOCKS - 1 }, false, 'Only 3 MiB are free on the disk of /data: a reset'],
  ['nothing', { bavail: 0 }, false, 'Only 0 MiB are free'],
  ['room, and no file more', { ffree: 0, files: 9 }, false, 'takes no more files'],
  ['room, and one file more', { ffree: 1, files: 9 }, true, 'are free'],
  ['room, and no limit of files', { ffree: 0, files: 0 }, true, 'are free'],
])('a disk that has %s: %j', (_what, more, ok, words) => {
  const room = { bavail: 100 * MIB_IN_BLOCKS, bsize: 4096, ffree: 5, files: 9, ...more };
  expect(checkRoom('/data', room)).toEqual({ ok, message: expect.stringContaining(words) });
});

test('the disk is the one of the directory', async () => {
  expect((await checkDisk(tmpdir())).message).toContain(`MiB are free on the disk of ${tmpdir()}`);
  await expect(checkDisk('/nowhere/at/all')).rejects.toThrow('ENOENT');
});
