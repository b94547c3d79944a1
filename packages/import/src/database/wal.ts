import { DatabaseError } from './error.ts';

const DATABASE_HEADER = 100;
const HEADER = 32;
const FRAME_HEADER = 24;
/** sqlite.org/fileformat2.html: the lowest bit says in which order the sums take their bytes. */
const MAGIC = 0x377f0682;

type Sums = readonly [number, number];

const addUp = (bytes: Buffer, [first, second]: Sums, isBigEndian: boolean): Sums => {
  let [one, two] = [first, second];
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    one = (one + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + two) >>> 0;
    two = (two + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + one) >>> 0;
  }
  return [one, two];
};

const areAt = (bytes: Buffer, at: number, [one, two]: Sums): boolean =>
  bytes.readUInt32BE(at) === one && bytes.readUInt32BE(at + 4) === two;

/**
 * A database with the log that stood beside it: the pages of all transactions that were finished, as SQLite would find them. A log of
 * another database, or a torn end, is left out as SQLite leaves it out. Throws a `DatabaseError` for one that grows beyond `mostBytes`.
 */
export const withLog = (database: Buffer, log: Buffer, mostBytes: number): Buffer => {
  if (database.length < DATABASE_HEADER || log.length < HEADER) return database;
  if ((log.readUInt32BE(0) & ~1) >>> 0 !== MAGIC) return database;
  const isBigEndian = (log.readUInt32BE(0) & 1) === 1;
  const size = log.readUInt32BE(8);
  const stated = database.readUInt16BE(16);
  if (size !== (stated === 1 ? 65_536 : stated)) return database;
  const salts = log.subarray(16, 24);
  let sums = addUp(log.subarray(0, 24), [0, 0], isBigEndian);
  if (!areAt(log, 24, sums)) return database;
  const pages = new Map<number, Buffer>();
  let pending = new Map<number, Buffer>();
  let count = 0;
  for (let at = HEADER; at + FRAME_HEADER + size <= log.length; at += FRAME_HEADER + size) {
    const page = log.subarray(at + FRAME_HEADER, at + FRAME_HEADER + size);
    sums = addUp(page, addUp(log.subarray(at, at + 8), sums, isBigEndian), isBigEndian);
    if (!log.subarray(at + 8, at + 16).equals(salts) || !areAt(log, at + 16, sums)) break;
    pending.set(log.readUInt32BE(at), page);
    const after = log.readUInt32BE(at + 4);
    if (after === 0) continue;
    for (const [number, one] of pending) pages.set(number, one);
    pending = new Map();
    count = after;
  }
  if (count === 0) return database;
  if (count * size > mostBytes) throw new DatabaseError('the log beside it makes it larger than can be imported');
  const whole = Buffer.alloc(count * size);
  database.copy(whole, 0, 0, Math.min(database.length, whole.length));
  for (const [number, page] of pages) {
    if (number >= 1 && number <= count) page.copy(whole, (number - 1) * size);
  }
  return whole;
};
