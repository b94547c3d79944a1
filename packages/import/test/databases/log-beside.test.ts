import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readFiles } from '@sallyport/import';
import { expect, test } from 'vitest';
import { CHARON, row } from './make.ts';
import { file } from './read.ts';

test('changes that are still in the log beside a database are read; a torn log is read as far as it goes', () => {
  const directory = mkdtempSync(join(tmpdir(), 'import-'));
  try {
    const path = join(directory, 'charon.db');
    const database = new DatabaseSync(path);
    database.exec('pragma journal_mode = wal');
    for (const statement of CHARON) database.exec(statement);
    database.exec('pragma wal_checkpoint(truncate)');
    const host = (name: string) =>
      database.exec(
        row('proxy_hosts', { uuid: name, domain_names: `${name}.test`, forward_host: name, forward_port: 80 }),
      );
    host('a');
    const first = readFileSync(`${path}-wal`).length;
    host('b');
    const [bytes, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    database.close();
    const readWith = (beside: Buffer) =>
      readFiles([file(beside, 'charon.db-wal'), file(bytes, 'charon.db')]).hosts.map(({ domain }) => domain);
    expect(readWith(log)).toEqual(['a.test', 'b.test']);
    expect(readWith(log.subarray(0, log.length - 1))).toEqual(['a.test']);
    const torn = Buffer.from(log);
    torn[first + 100] = 255 - (torn[first + 100] ?? 0);
    expect(readWith(torn)).toEqual(['a.test']);
    for (const nothing of [Buffer.alloc(0), Buffer.alloc(5_000, 7)]) expect(readWith(nothing)).toEqual([]);
    const alone = readFiles([file(bytes, 'charon.db')]);
    expect(alone.warnings.map(({ message }) => message).join()).toContain('upload charon.db-wal with it');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a database that is cut off within its header is damaged, whatever log is beside it', () => {
  const log = Buffer.alloc(1_000);
  log.writeUInt32BE(0x377f0682);
  for (let length = 16; length <= 100; length += 1) {
    const bytes = Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(84, 2)]).subarray(0, length);
    const { hosts, errors } = readFiles([file(bytes, 'charon.db'), file(log, 'charon.db-wal')]);
    expect(hosts).toEqual([]);
    expect(errors).toMatchObject([{ message: expect.stringContaining('the database is not imported') }]);
  }
});
