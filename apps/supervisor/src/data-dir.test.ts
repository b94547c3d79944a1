import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDataDir } from './data-dir.ts';

const parentDir = () => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
};

test('makes the directory for its owner only', () => {
  const path = openDataDir(join(parentDir(), 'a', 'b'));
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test('refuses one that others can look into, and says how to mend it', () => {
  const dir = parentDir();
  chmodSync(dir, 0o755);
  expect(() => openDataDir(dir)).toThrow(`chmod 700 ${dir}`);
});

test('refuses one of another user, who could read and change everything in it', () => {
  const dir = parentDir();
  const theirs = process.getuid?.() === 0 ? dir : '/usr';
  // Only root can give a directory away; to others that of root is another's.
  if (theirs === dir) chownSync(dir, 65_534, 65_534);
  expect(() => openDataDir(theirs)).toThrow(`SALLYPORT_DATA_DIR: ${theirs} belongs to another user`);
});

test.each([
  ['a,b', 'must not hold'],
  ['x'.repeat(72), 'must have at most 71 bytes'],
])(
  'refuses one whose sockets HAProxy can not be told of, also where a symbolic link leads there: %s',
  (name, reason) => {
    const dir = parentDir();
    const real = join(dir, name);
    expect(() => openDataDir(real)).toThrow(`SALLYPORT_DATA_DIR ${reason}`);
    const link = join(dir, 'data');
    symlinkSync(real, link);
    expect(() => openDataDir(link)).toThrow(JSON.stringify(real));
  },
);

test('takes one behind a symbolic link, by its real path, up to the length that the configuration may have', () => {
  const dir = parentDir();
  const real = join(dir, 'x'.repeat(71 - Buffer.byteLength(dir) - 1));
  mkdirSync(real, { mode: 0o700 });
  const link = join(dir, 'data');
  symlinkSync(real, link);
  expect(openDataDir(link)).toBe(real);
});

test('names what can not be made', () => {
  const path = join(parentDir(), 'file', 'below');
  writeFileSync(join(path, '..'), '');
  expect(() => openDataDir(path)).toThrow(`SALLYPORT_DATA_DIR: cannot make ${path} (ENOTDIR)`);
});
