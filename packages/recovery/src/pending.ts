import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const SIZE = 512;
const SUFFIX = '.pending';
/** Anything else in a note is none: zeros, for example, which a power cut may leave of a file that was being made. */
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** A reset that was asked for and that the store does not know of yet. */
export interface PendingReset {
  path: string;
  /** When it was asked for. */
  moment: string;
}

const placeOf = (dataDir: string): string => join(dataDir, 'emergency');

/** Empty when there is nothing in it, or no such file. */
const readMoment = (path: string): string => {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return MOMENT.test(text) ? text : '';
  } catch {
    return '';
  }
};

const overwrite = (file: number, text: string): void => {
  writeSync(file, text.slice(0, SIZE).padEnd(SIZE), 0, 'latin1');
  fsyncSync(file);
};

/** Resets of all processes of a data directory that are not stored yet. */
export const pendingResets = (dataDir: string): PendingReset[] => {
  const place = placeOf(dataDir);
  let names: string[];
  try {
    names = readdirSync(place);
  } catch {
    // No process that resets was ever started here.
    return [];
  }
  return names
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => ({ path: join(place, name), moment: readMoment(join(place, name)) }))
    .filter(({ moment }) => moment !== '');
};

/** Notes that a reset is stored now, whichever process was asked for it; one that was asked for since stays noted. */
export const settle = ({ path, moment }: PendingReset): void => {
  if (readMoment(path) !== moment) return;
  const file = openSync(path, 'r+');
  try {
    overwrite(file, '');
  } finally {
    closeSync(file);
  }
};

/**
 * A note that survives the process, and takes no room on a full disk: its blocks are written when the service starts, and from then on
 * overwritten where they are. `name` is the process's. Throws when the file can't be made at all.
 */
export const openPendingNote = (dataDir: string, name: string) => {
  const path = join(placeOf(dataDir), `${name}${SUFFIX}`);
  mkdirSync(placeOf(dataDir), { recursive: true, mode: 0o700 });
  const left = readMoment(path);
  const file = openSync(path, left === '' ? 'w' : 'r+', 0o600);
  overwrite(file, left);
  return {
    /** When the reset was asked for that is not stored yet; empty when there is none. */
    read: () => readMoment(path),
    /** `moment`: ISO 8601, in UTC; empty when all is stored. */
    write: (moment: string): void => overwrite(file, moment),
    /** Those of other processes as well. */
    all: () => pendingResets(dataDir),
    close: (): void => closeSync(file),
  };
};
export type PendingNote = ReturnType<typeof openPendingNote>;
