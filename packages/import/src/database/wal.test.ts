import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DatabaseError } from './error.ts';
import { withLog } from './wal.ts';

const MOST = 1 << 20;
const HEADER = 32;
const FRAME_HEADER = 24;

const directory = mkdtempSync(join(tmpdir(), 'import-wal-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** What SQLite itself makes of a database and the log beside it. */
const bySqlite = (database: Buffer, log: Buffer): Buffer => {
  const path = join(directory, 'asked.db');
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, log);
  const opened = new DatabaseSync(path);
  opened.exec('pragma wal_checkpoint(truncate)');
  opened.close();
  const bytes = readFileSync(path);
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
  return bytes;
};

interface Frame {
  number: number;
  page: Buffer;
  /** Pages of the database after the transaction that ends with it; 0: it goes on. */
  after: number;
}

/** The sums of sqlite.org/fileformat2.html, section 4.2, over one more piece. */
const summed = (piece: Buffer, before: readonly [number, number], isBigEndian: boolean): [number, number] => {
  const words = Array.from({ length: piece.length / 4 }, (_, index) =>
    isBigEndian ? piece.readUInt32BE(index * 4) : piece.readUInt32LE(index * 4),
  );
  let [s0, s1] = before;
  for (let index = 0; index < words.length; index += 2) {
    s0 = (s0 + (words[index] ?? 0) + s1) % 2 ** 32;
    s1 = (s1 + (words[index + 1] ?? 0) + s0) % 2 ** 32;
  }
  return [s0, s1];
};

const written = (...words: number[]): Buffer => {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word, index * 4);
  return bytes;
};

interface LogOptions {
  isBigEndian?: boolean;
  magic?: number;
  size?: number;
  /** The salt of the frames, when it isn't the log's. */
  salt?: number;
}

const writeLog = (frames: readonly Frame[], { isBigEndian = false, magic, size, salt }: LogOptions = {}): Buffer => {
  const pageSize = size ?? frames[0]?.page.length ?? 0;
  const head = written(magic ?? 0x377f0682 + Number(isBigEndian), 3_007_000, pageSize, 0, 11, 22);
  let sums = summed(head, [0, 0], isBigEndian);
  const pieces = [head, written(...sums)];
  for (const { number, page, after } of frames) {
    const start = written(number, after);
    sums = summed(page, summed(start, sums, isBigEndian), isBigEndian);
    pieces.push(start, written(salt ?? 11, 22), written(...sums), page);
  }
  return Buffer.concat(pieces);
};

const pageOf = (database: Buffer, number: number, size: number): Buffer =>
  Buffer.from(database.subarray((number - 1) * size, number * size));

/** Two states of one database: later ones have another row, or fewer pages. */
const states = (size: number) => {
  const path = join(mkdtempSync(join(directory, 'made-')), 'made.db');
  const database = new DatabaseSync(path);
  database.exec(`pragma page_size = ${size}`);
  database.exec('pragma journal_mode = wal');
  database.exec('create table words (word text)');
  const now = (): Buffer => {
    database.exec('pragma wal_checkpoint(truncate)');
    return readFileSync(path);
  };
  const fill = database.prepare('insert into words values (?)');
  for (let index = 0; index < 40; index += 1) fill.run('x'.repeat(size / 8));
  const before = now();
  database.exec("insert into words values ('later')");
  const later = now();
  database.exec("delete from words where word <> 'later'");
  database.exec('vacuum');
  const smaller = now();
  database.close();
  return { before, later, smaller };
};

/** The pages by which one state differs from another, in one transaction. */
const framesTo = (state: Buffer, from: Buffer, size: number): Frame[] => {
  const count = state.length / size;
  const numbers = Array.from({ length: count }, (_, index) => index + 1).filter(
    (number) => !pageOf(state, number, size).equals(pageOf(from, number, size)),
  );
  return numbers.map((number, index) => ({
    number,
    page: pageOf(state, number, size),
    after: index === numbers.length - 1 ? count : 0,
  }));
};

let made: ReturnType<typeof states>;
beforeAll(() => {
  made = states(4_096);
});

test.for([
  [512, false],
  [4_096, true],
  [65_536, false],
] as const)('a log of pages of %i bytes, sums in big endian: %s, is read as SQLite reads it', ([size, isBigEndian]) => {
  const { before, later, smaller } = states(size);
  expect(before.length).toBeGreaterThan(smaller.length);
  for (const state of [later, smaller]) {
    const log = writeLog(framesTo(state, before, size), { isBigEndian });
    expect(withLog(before, log, 8 * MOST).equals(state)).toBe(true);
    expect(bySqlite(before, log).equals(state)).toBe(true);
  }
});

test('of two transactions the later one counts; one that was not finished does not', () => {
  const { before, later, smaller } = made;
  const both = [...framesTo(later, before, 4_096), ...framesTo(smaller, later, 4_096)];
  const log = writeLog(both);
  expect(withLog(before, log, MOST).equals(smaller)).toBe(true);
  expect(bySqlite(before, log).equals(smaller)).toBe(true);
  const unfinished = writeLog([...both.slice(0, -1), { ...(both.at(-1) as Frame), after: 0 }]);
  expect(withLog(before, unfinished, MOST).equals(later)).toBe(true);
  expect(bySqlite(before, unfinished).equals(later)).toBe(true);
});

test('pages beyond the end of the database are left out', () => {
  const { before, smaller } = made;
  const beyond: Frame = { number: before.length / 4_096, page: Buffer.alloc(4_096, 7), after: 0 };
  const log = writeLog([beyond, ...framesTo(smaller, before, 4_096)]);
  expect(withLog(before, log, MOST).equals(smaller)).toBe(true);
  expect(bySqlite(before, log).equals(smaller)).toBe(true);
});

test('a log of another database, or one that is damaged at its head, changes nothing', () => {
  const { before, later } = made;
  const frames = framesTo(later, before, 4_096);
  const damaged = writeLog(frames);
  damaged[13] = 1;
  const logs = {
    'not its head': writeLog(frames, { magic: 0x377f0680 }),
    'other pages': writeLog(frames, { size: 8_192 }),
    'another salt': writeLog(frames, { salt: 12 }),
    'sums of its head': damaged,
    'sums of its first page': (() => {
      const log = writeLog(frames);
      log.writeUInt8(log.readUInt8(HEADER + 16) ^ 1, HEADER + 16);
      return log;
    })(),
    'second half of those': (() => {
      const log = writeLog(frames);
      log.writeUInt8(log.readUInt8(HEADER + 23) ^ 1, HEADER + 23);
      return log;
    })(),
    'a head alone': writeLog(frames).subarray(0, HEADER),
    'less than a head': writeLog(frames).subarray(0, HEADER - 1),
    'a page that is cut off': writeLog(frames.slice(-1)).subarray(0, HEADER + FRAME_HEADER + 4_095),
  };
  for (const [what, log] of Object.entries(logs)) {
    expect(withLog(before, log, MOST).equals(before), what).toBe(true);
    expect(bySqlite(before, log).equals(before), what).toBe(true);
  }
});

test('a log that says that the database is larger than may be is refused before there is memory for it', () => {
  const { before, later } = made;
  const frames = framesTo(later, before, 4_096);
  const grown = (after: number) => writeLog([...frames.slice(0, -1), { ...(frames.at(-1) as Frame), after }]);
  expect(() => withLog(before, grown(0xffff_ffff), MOST)).toThrow(DatabaseError);
  expect(() => withLog(before, grown(MOST / 4_096 + 1), MOST)).toThrow(DatabaseError);
  expect(withLog(before, grown(MOST / 4_096), MOST)).toHaveLength(MOST);
});
