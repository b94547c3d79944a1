import { constants, fstatSync, readdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { createDiskRoom, openUnlinked } from './spool-file.ts';

test('a spool file has no name, is for nobody else, and takes and gives bytes', () =>
  withTemporaryDirectory(async (directory) => {
    const file = await openUnlinked(directory);
    try {
      expect(readdirSync(directory)).toEqual([]);
      const { mode, nlink } = fstatSync(file.fd);
      expect([mode & constants.S_IFMT, mode & 0o777, nlink]).toEqual([constants.S_IFREG, 0o600, 0]);
      await file.write(Buffer.from('body'), 0, 4, 0);
      const read = Buffer.alloc(8);
      expect((await file.read(read, 0, 8, 0)).bytesRead).toBe(4);
      expect(read.toString('latin1', 0, 4)).toBe('body');
    } finally {
      await file.close();
    }
  }));

test('a directory that is gone is said to be', () =>
  withTemporaryDirectory(async (directory) => {
    await expect(openUnlinked(join(directory, 'gone'))).rejects.toThrow('ENOENT');
    const hasRoom = createDiskRoom(join(directory, 'gone'), 0);
    for (let time = 1; time <= 2; time++) await expect(hasRoom(1)).rejects.toThrow('ENOENT');
  }));

test('bodies that come at once share what the disk has, and all of them know how much that is', () =>
  withTemporaryDirectory(async (directory) => {
    const { bavail, bsize } = await statfs(directory);
    const part = Math.floor(bavail * bsize * 0.4);
    // Others use the disk meanwhile; not that much of it.
    const hasRoom = createDiskRoom(directory, 0);
    expect(await Promise.all([hasRoom(part), hasRoom(part), hasRoom(part)])).toEqual([true, true, false]);
  }));

test('what is reserved is left to others', () =>
  withTemporaryDirectory(async (directory) => {
    const { blocks, bsize } = await statfs(directory);
    expect(await createDiskRoom(directory, blocks * bsize)(1)).toBe(false);
    expect(await createDiskRoom(directory, 1)(1)).toBe(true);
  }));
