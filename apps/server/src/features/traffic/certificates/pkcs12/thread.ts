import { parentPort, workerData } from 'node:worker_threads';
import { createRounds, MOST_ROUNDS, type Rounds } from './derive.ts';
import type { Pkcs12Job, Pkcs12Outcome } from './job.ts';
import { Pkcs12Problem } from './problem.ts';
import { type Pkcs12Contents, readPkcs12 } from './read.ts';

/** Java hashes 10,000 times for a key and as often for the integrity. */
const ROUNDS_OF_EACH_MORE = 20_000;

/** Throws a `Pkcs12Problem`; the first one when no password is the right one. */
const readWithAny = (bytes: Buffer, passwords: readonly string[], rounds: Rounds): Pkcs12Contents => {
  let first: Pkcs12Problem | undefined;
  for (const password of passwords) {
    try {
      return readPkcs12(bytes, password, rounds);
    } catch (error) {
      if (!(error instanceof Pkcs12Problem) || !error.isLocked) throw error;
      first ??= error;
    }
  }
  throw first ?? new Error('there is no password, not even an empty one');
};

const run = ({ files, passwords }: Pkcs12Job): Pkcs12Outcome[] => {
  const rounds = createRounds(MOST_ROUNDS + files.length * ROUNDS_OF_EACH_MORE);
  return files.map((bytes) => {
    try {
      return readWithAny(Buffer.from(bytes), passwords, rounds.forFile());
    } catch (error) {
      if (!(error instanceof Pkcs12Problem)) throw error;
      return { problem: error.message, isLocked: error.isLocked };
    }
  });
};

parentPort?.postMessage(run(workerData as Pkcs12Job));
