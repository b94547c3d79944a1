import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CommandFailure } from '../failure.ts';
import { readUpload } from './import-files.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'import-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const put = (name: string, content: string): string => {
  const path = join(directory, name);
  writeFileSync(path, content, 'latin1');
  return path;
};
const base64 = (content: string) => Buffer.from(content, 'latin1').toString('base64');
const DATABASE = 'SQLite format 3\0\xff';

test('texts are named as seen from the main one', () => {
  mkdirSync(join(directory, 'sites'));
  expect(readUpload([put('Caddyfile', 'a'), put('sites/b.caddy', 'b')])).toEqual([
    { filename: 'Caddyfile', content: 'a' },
    { filename: 'sites/b.caddy', content: 'b' },
  ]);
});

test('a directory stands for the database in it, which comes with the log beside it', () => {
  const database = put('database.sqlite', DATABASE);
  const expected = { filename: 'database.sqlite', content: base64(DATABASE), encoding: 'base64' };
  expect(readUpload([directory])).toEqual([expected]);
  put('database.sqlite-wal', '');
  expect(readUpload([database])).toEqual([expected]);
  put('database.sqlite-wal', 'w\xff');
  const log = { filename: 'database.sqlite-wal', content: base64('w\xff'), encoding: 'base64' };
  expect(readUpload([directory])).toEqual([expected, log]);
});

test('what is not there, and a directory without a database, is said by its name', () => {
  for (const path of [directory, join(directory, 'nothing')]) {
    expect(() => readUpload([path])).toThrow(CommandFailure);
    expect(() => readUpload([path])).toThrow(path);
  }
});
