import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isRoot } from '../../../test/support/is-root.ts';
import { ConfigError } from './config.ts';
import { handOver, prepareDataDir } from './data-dir.ts';

const givenDirectory = () => {
  const path = mkdtempSync(join(tmpdir(), 'sallyport-data-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};

test('makes the data directory for its owner only, with those around it', () => {
  const dataDir = join(givenDirectory(), 'srv', 'data');
  prepareDataDir(dataDir);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  prepareDataDir(dataDir);
});

test.each([0o701, 0o710, 0o704, 0o755])('refuses one that others may enter: mode %o', (mode) => {
  const dataDir = givenDirectory();
  chmodSync(dataDir, mode);
  expect(() => prepareDataDir(dataDir)).toThrow(ConfigError);
  expect(() => prepareDataDir(dataDir)).toThrow(`chmod 700 ${dataDir}`);
});

// Only root may give files away.
describe.runIf(isRoot)('what root leaves in a data directory', () => {
  const owners = (path: string) => [statSync(path).uid, statSync(path).gid];
  const givenFile = (dataDir: string) => {
    const path = join(dataDir, 'file');
    writeFileSync(path, '');
    return path;
  };

  test('is handed over to its owner', () => {
    const dataDir = givenDirectory();
    chownSync(dataDir, 1_234, 1_235);
    const path = givenFile(dataDir);
    handOver(path, dataDir);
    expect(owners(path)).toEqual([1_234, 1_235]);
  });

  test('stays with whoever else it belongs to', () => {
    const dataDir = givenDirectory();
    chownSync(dataDir, 1_234, 1_235);
    const path = givenFile(dataDir);
    chownSync(path, 4_321, 4_322);
    handOver(path, dataDir);
    expect(owners(path)).toEqual([4_321, 4_322]);
  });

  test('stays as it is in a directory of root', () => {
    const dataDir = givenDirectory();
    const path = givenFile(dataDir);
    chownSync(path, 0, 4_322);
    handOver(path, dataDir);
    expect(owners(path)).toEqual([0, 4_322]);
  });
});
