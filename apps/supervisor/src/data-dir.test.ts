import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

test('refuses one whose sockets would have too long a path', () => {
  expect(() => openDataDir(join(parentDir(), 'x'.repeat(80)))).toThrow('too long for sockets');
});

test('names what can not be made', () => {
  const path = join(parentDir(), 'file', 'below');
  writeFileSync(join(path, '..'), '');
  expect(() => openDataDir(path)).toThrow(`SALLYPORT_DATA_DIR: cannot make ${path} (ENOTDIR)`);
});
