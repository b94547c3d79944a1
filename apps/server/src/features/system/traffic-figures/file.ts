import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { answerClasses, removeLeftovers, writeFileAtomically } from '@sallyport/haproxy';
import type { LastReading } from './counting.ts';
import type { Figures } from './minutes.ts';

/** What outlives the process. */
export interface Kept {
  last: LastReading;
  minutes: readonly (readonly [number, Figures])[];
}

const VERSION = 1;
/** Two days of the largest numbers have less. */
const MAX_BYTES = 1_048_576;
/** What other processes of this machine may differ by when they look at its clock. */
const CLOCK_TOLERANCE_MS = 60_000;

const directoryOf = (dataDir: string): string => join(dataDir, 'traffic');
const fileOf = (dataDir: string): string => join(directoryOf(dataDir), 'figures.json');

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isLast = (value: unknown): value is LastReading => {
  const { at, process, counters } = Object(value);
  const { requests, bytesIn, bytesOut } = Object(counters);
  const counts = [at, bytesIn, bytesOut, ...answerClasses.map((name) => Object(requests)[name])];
  return typeof process === 'string' && counts.every(isCount);
};

const isMinute = (value: unknown): value is readonly [number, Figures] => {
  if (!Array.isArray(value) || value.length !== 2 || !Array.isArray(value[1])) return false;
  return value[1].length === 5 && [value[0], ...value[1]].every(isCount);
};

/** Reads no more than `MAX_BYTES`, whatever is there. */
const readBounded = async (path: string): Promise<string> => {
  const file = await open(path, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/**
 * Reads what an earlier process kept. Undefined when there is nothing, or something else than this version writes, whole and with no moment
 * that is still to come: figures are then counted anew.
 */
export const readKept = async (dataDir: string, now: number): Promise<Kept | undefined> => {
  await removeLeftovers(directoryOf(dataDir));
  try {
    const { version, last, minutes } = Object(JSON.parse(await readBounded(fileOf(dataDir))));
    const isWhole = version === VERSION && isLast(last) && Array.isArray(minutes) && minutes.every(isMinute);
    return isWhole && last.at <= now + CLOCK_TOLERANCE_MS ? { last, minutes } : undefined;
  } catch {
    return undefined;
  }
};

/** Replaces what is kept, at once. Throws an `Error` that names the file when it can't be written. */
export const writeKept = (dataDir: string, kept: Kept): Promise<void> =>
  writeFileAtomically(fileOf(dataDir), [JSON.stringify({ version: VERSION, ...kept })], { durable: false });
