import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isRoot } from '../../../../../../../test/support/is-root.ts';
import { withTemporaryDirectory } from '../../../../../../../test/support/temporary-directory.ts';
import { until } from '../../../../../../../test/support/until.ts';
import { createLogFile } from './log-file.ts';

const given = (fileBytes?: number) => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'access.log');
  const log = createLogFile({ path, group: undefined, ...(fileBytes && { fileBytes }) });
  onTestFinished(() => log.close());
  const write = async (line: string) => {
    const { written } = log.counts();
    log.append(line);
    await until('it is written', () => log.counts().written > written);
  };
  return { directory, path, log, write, text: () => readFileSync(path, 'utf8') };
};

test('lines are appended to what is there, readable for the group', async () => {
  const { directory, path, write, text } = given();
  await write('one');
  await write('two');
  expect(text()).toBe('one\ntwo\n');
  await write('x'.repeat(100_000));
  await write('y');
  expect(readdirSync(directory)).toEqual(['access.log']);
  expect(statSync(path).mode & 0o777).toBe(0o640);
});

test('a file that is deleted, moved or emptied is written on', async () => {
  const { directory, path, write, text } = given();
  await write('one');
  rmSync(path);
  await write('two');
  expect(text()).toBe('two\n');
  renameSync(path, join(directory, 'old'));
  await write('three');
  expect(text()).toBe('three\n');
  truncateSync(path);
  await write('four');
  expect(text()).toBe('four\n');
});

test('it stays small: a new file is begun and one is kept', async () => {
  const { directory, log, write } = given(1_000);
  for (let index = 0; index < 40; index += 1) await write('x'.repeat(99));
  expect(readdirSync(directory).sort()).toEqual(['access.log', 'access.log.1']);
  for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).size).toBeLessThanOrEqual(1_000);
  expect(log.counts()).toEqual({ written: 40, dropped: 0 });
});

test('what can not be written is dropped, counted and told, and it goes on when it can be again', async () => {
  const { directory, log, write, text } = given();
  await write('one');
  rmSync(directory, { recursive: true });
  log.append('two');
  await until('it is told', () => log.issue() !== null);
  expect(log.counts()).toEqual({ written: 1, dropped: 1 });
  mkdirSync(directory);
  await write('three');
  expect(text()).toBe('three\n');
  expect(log.issue()).toBeNull();
});

test('what stands in its place is left alone, and nothing is left beside it', async () => {
  const { directory, path, log } = given();
  mkdirSync(path);
  log.append('one');
  await until('it is told', () => log.issue() !== null);
  expect(log.counts()).toEqual({ written: 0, dropped: 1 });
  expect(readdirSync(directory)).toEqual(['access.log']);
});

test.skipIf(!isRoot)('a full disk costs lines and nothing else: whole ones follow when there is room', async () => {
  await withTemporaryDirectory(async (directory) => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory]);
    const log = createLogFile({ path: join(directory, 'access.log'), group: undefined });
    try {
      writeFileSync(join(directory, 'filler'), 'x'.repeat(40_000));
      for (let index = 0; index < 40; index += 1) log.append(`${index} `.padEnd(2_000, 'y'));
      await until('it is told', () => log.issue()?.includes('ENOSPC'));
      expect(log.counts()).toEqual({ written: 0, dropped: 40 });
      rmSync(join(directory, 'filler'));
      log.append('after');
      await until('it goes on', () => log.counts().written === 1);
      expect(log.issue()).toBeNull();
      expect(readFileSync(join(directory, 'access.log'), 'utf8').split('\n').slice(-2)).toEqual(['after', '']);
    } finally {
      await log.close();
      execFileSync('umount', [directory]);
    }
  });
});

test('no more than a megabyte waits for the disk', () => {
  const { log } = given();
  for (let index = 0; index < 3_000; index += 1) log.append('x'.repeat(1_000));
  expect(log.counts().dropped).toBeGreaterThan(1_900);
});
