import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { holdsText, writeFileAtomically } from './atomic-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-atomic-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const write = (path: string) => writeFileAtomically(path, ['new'], { durable: true });

test('makes the directory, for nobody else to look into', async () => {
  const path = join(directory, 'a', 'file');
  await write(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(directory, 'a')).mode & 0o777).toBe(0o700);
});

test('says which file can not be written, and why, and leaves nothing of it', async () => {
  const taken = join(directory, 'taken');
  mkdirSync(join(taken, 'held'), { recursive: true });
  await expect(write(taken)).rejects.toThrow(/^cannot write \S+\/taken: (?:EISDIR|ENOTEMPTY|EEXIST): [a-z ]+$/);
  expect(readdirSync(directory)).toEqual(['taken']);
});

test('says so as well of a directory that can not be made', async () => {
  writeFileSync(join(directory, 'file'), '');
  const path = join(directory, 'file', 'deeper');
  const fault = await write(path).catch((error: unknown) => error);
  expect(fault).toMatchObject({
    message: expect.stringMatching(/^cannot write \S+\/file\/deeper: (?:ENOTDIR|EEXIST): [a-z ]+$/),
    cause: { code: expect.stringMatching(/^(?:ENOTDIR|EEXIST)$/) },
  });
});

test('passes on what goes wrong in the chunks', async () => {
  const chunks = function* () {
    yield 'a';
    throw new Error('no more');
  };
  const path = join(directory, 'file');
  await expect(writeFileAtomically(path, chunks(), { durable: false })).rejects.toThrow(
    `cannot write ${path}: no more`,
  );
  expect(readdirSync(directory)).toEqual([]);
});

test('knows a file that holds just what is to be written, in whatever parts', async () => {
  const path = join(directory, 'file');
  expect(await holdsText(path, ['abc'])).toBe(false);
  await writeFileAtomically(path, ['ab', Buffer.from('c')], { durable: false });
  for (const chunks of [['abc'], ['a', 'bc'], [Buffer.from('abc')], ['', 'abc', '']])
    expect(await holdsText(path, chunks)).toBe(true);
  for (const chunks of [[], ['ab'], ['abcd'], ['abc', 'd'], ['abd'], ['bc'], ['ab', 'd']])
    expect(await holdsText(path, chunks)).toBe(false);
});
