import type { Actor } from '@sallyport/store/actor';
import { runInThread } from '../../../in-thread.ts';
import { createFairTurns } from '../../../in-turn.ts';
import { createRoom, createRoomByKey } from '../../../room.ts';
import type { Pkcs12Job, Pkcs12Outcome } from './job.ts';

/** All the rounds that may be asked for take about fifteen seconds, on a busy machine some more. */
const LIMIT_MS = 60_000;
const MAX_HEAP_MB = 128;
const MOST_READS = 8;
const MOST_OF_ONE = 4;

/**
 * Reads PKCS #12 files for who asks: see `Pkcs12Job`. Throws a 400 when they take too long or too much memory, a 429 while several others
 * are read.
 */
export type ReadPkcs12Files = (
  files: readonly Buffer[],
  passwords: readonly string[],
  actor: Actor,
) => Promise<Pkcs12Outcome[]>;

/** By whom turns are shared: a user by whatever credential, others by address. */
const callerOf = ({ identity, ip }: Actor): string =>
  identity.kind === 'user' ? `user ${identity.id}` : `${identity.kind} ${ip}`;

/** Makes what reads PKCS #12 files: those of one request at a time, of each caller in turn, in a thread, within bounds of time and memory. */
export const createPkcs12Reader = (): ReadPkcs12Files => {
  const inTurn = createFairTurns();
  const message = 'Other PKCS #12 files are being read; try again in a moment';
  const enter = createRoom(MOST_READS, message);
  const enterOwn = createRoomByKey(MOST_OF_ONE, message);
  return (files, passwords, actor) => {
    const caller = callerOf(actor);
    const read = () =>
      runInThread<Pkcs12Job, Pkcs12Outcome[]>({
        script: new URL('./thread.ts', import.meta.url),
        job: { files: [...files], passwords },
        limitMs: LIMIT_MS,
        heapMb: MAX_HEAP_MB,
        says: { subject: 'pkcs12_file', verb: 'read' },
      });
    return enterOwn(caller, () => enter(() => inTurn(caller, read)));
  };
};
