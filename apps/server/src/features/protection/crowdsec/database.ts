import { execFile } from 'node:child_process';
import { closeSync, constants, createWriteStream, lstatSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Instance } from './instance.ts';
import type { CrowdsecProcess } from './process.ts';
import { isDamage } from './words.ts';

const DATABASE = 'crowdsec.db';
const MAGIC = 'SQLite format 3\0';
/** It is not ours: whatever stands there is opened for reading, and no link is followed. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** A larger one is not copied to be looked at. */
const MOST_BYTES = 1024 * 1024 * 1024;
/** A sound one of that size takes some seconds, and a slow disk more. */
const CHECK_MS = 180_000;
const CHECK = fileURLToPath(new URL('./check-database.ts', import.meta.url));
/** What it says makes us look so often at most. */
const LOOK_AGAIN_MS = 60_000;

const run = promisify(execFile);

type Place = Pick<Instance, 'directory' | 'account'>;

const pathOf = ({ account }: Place): string => join(account.state.at, DATABASE);

/** Which file its database is; undefined when there is none. */
const databaseFile = (place: Place): number | undefined => lstatSync(pathOf(place), { throwIfNoEntry: false })?.ino;

const beginningOf = (path: string): string => {
  const file = openSync(path, READ);
  try {
    const bytes = Buffer.alloc(MAGIC.length);
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
};

/**
 * Why the file of its database can't be read by whoever starts next. A process that has all of it in memory, or in the log before it,
 * goes on without seeing that. `started` is the file that it was started with.
 */
const faultOfFile = (place: Place, started: number): string | undefined => {
  const now = databaseFile(place);
  if (now === undefined) return 'the file of its database is gone';
  if (now !== started) return 'the file of its database is another one';
  return beginningOf(pathOf(place)) === MAGIC ? undefined : 'the file of its database is none any more';
};

const copy = async (source: FileHandle, to: string): Promise<void> =>
  pipeline(source.createReadStream({ autoClose: false }), createWriteStream(to, { mode: 0o600 }));

/** Ends by itself when nobody is left to end it, and goes first when memory is short. */
const LIMITED = 'ulimit -t "$0" && { echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; exec "$@"';

const faultOf = async (path: string, limitMs: number): Promise<string | undefined> => {
  const limited = ['-c', LIMITED, String(Math.ceil(limitMs / 1_000) + 1), process.execPath, CHECK, path];
  const { stdout } = await run('/bin/sh', limited, { timeout: limitMs, killSignal: 'SIGKILL', env: {} });
  return stdout === 'ok' ? undefined : stdout;
};

/**
 * What is wrong inside its database, by a copy: what another account owns is never opened as a database by us. While it is written to,
 * the copy may be torn; undefined for one that is whole, or too large to be copied. Throws when it can't be read or copied, or when the
 * check takes longer than `limitMs`.
 */
export const faultInside = async (place: Place, limitMs = CHECK_MS): Promise<string | undefined> => {
  const scratch = join(place.directory, 'look');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { mode: 0o700 });
  try {
    for (const name of [DATABASE, `${DATABASE}-wal`]) {
      const source = await open(join(place.account.state.at, name), READ).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' && name !== DATABASE) return undefined;
        throw error;
      });
      if (!source) continue;
      try {
        if ((await source.stat()).size > MOST_BYTES) return undefined;
        await copy(source, join(scratch, name));
      } finally {
        await source.close();
      }
    }
    return await faultOf(join(scratch, DATABASE), limitMs);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

/** Looks whether its database was damaged beside it. */
export const createDamageWatch = (place: Place) => {
  let started: number | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let lookedFor: string | undefined;

  /** Whoever reaches its local API can put words into its log: they only make us look. */
  const faultTold = async (line: string | undefined): Promise<string | undefined> => {
    if (line === undefined || line === lookedFor || performance.now() - lookedAt < LOOK_AGAIN_MS) return undefined;
    [lookedFor, lookedAt] = [line, performance.now()];
    return faultInside(place);
  };

  return {
    /** To be called before a process is started. */
    begin(): void {
      started = databaseFile(place);
    },

    /** Why it has to begin anew, as far as can be told while it runs; undefined when nothing speaks for it. Throws when it can't look. */
    async fault(child: Pick<CrowdsecProcess, 'lastSaid'>): Promise<string | undefined> {
      const ofFile = started === undefined ? undefined : faultOfFile(place, started);
      return ofFile ?? faultTold(child.lastSaid(isDamage));
    },

    /** The same once it has ended, and nobody writes. */
    async faultAtRest(): Promise<string | undefined> {
      return (started === undefined ? undefined : faultOfFile(place, started)) ?? faultInside(place);
    },
  };
};
