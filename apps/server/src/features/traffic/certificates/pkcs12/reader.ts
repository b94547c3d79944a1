import { runInThread } from '../../../in-thread.ts';
import { createTurns } from '../../../in-turn.ts';
import { createRoom } from '../../../room.ts';
import type { Pkcs12Job, Pkcs12Outcome } from './job.ts';

/** All the rounds that may be asked for take about fifteen seconds, on a busy machine some more. */
const LIMIT_MS = 60_000;
const MAX_HEAP_MB = 128;
const MOST_READS = 4;

/** Reads PKCS #12 files: see `Pkcs12Job`. Throws a 400 when they take too long or too much memory, a 429 while several others are read. */
export type ReadPkcs12Files = (files: readonly Buffer[], passwords: readonly string[]) => Promise<Pkcs12Outcome[]>;

/** Makes what reads PKCS #12 files: those of one request at a time, in a thread, within bounds of time and memory. */
export const createPkcs12Reader = (): ReadPkcs12Files => {
  const inTurn = createTurns();
  const enter = createRoom(MOST_READS, 'Other PKCS #12 files are being read; try again in a moment');
  return (files, passwords) =>
    enter(() =>
      inTurn(() =>
        runInThread<Pkcs12Job, Pkcs12Outcome[]>({
          script: new URL('./thread.ts', import.meta.url),
          job: { files: [...files], passwords },
          limitMs: LIMIT_MS,
          heapMb: MAX_HEAP_MB,
          says: { subject: 'pkcs12_file', verb: 'read' },
        }),
      ),
    );
};
