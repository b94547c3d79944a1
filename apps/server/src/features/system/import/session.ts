import { setTimeout as delay } from 'node:timers/promises';
import type { Reading, SourceFile } from '@sallyport/import';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { importContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import { type ReadUpload, unreadable } from './read.ts';
import type { ReadOutcome } from './read-job.ts';
import type { ImportStore, StoredSession } from './store.ts';

export interface ReadingDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => ImportStore;
  vault: Vault;
  read: ReadUpload;
  clock: () => Date;
  log: Logger;
}

/** What ends the service each time it is read must not be read for ever. */
const MOST_ATTEMPTS = 3;
/** Longer than reading takes: who began it is gone. */
const ABANDONED_MS = 90_000;
/** How long a caller waits for a session to be read; what takes longer is asked for again. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 100;

/** The state that a session comes to by what was read. */
export const stateOf = ({ hosts, errors }: Pick<ReadOutcome, 'hosts' | 'errors'>): 'reviewing' | 'failed' =>
  hosts === 0 && errors > 0 ? 'failed' : 'reviewing';

/** Reads what was uploaded, in the background, and keeps what was read; both sealed, for either may hold secrets. */
export const createReading = ({ db, transactAside, store, vault, read, clock, log }: ReadingDeps) => {
  const underway = new Map<string, Promise<void>>();

  const outcomeOf = async (uuid: string, files_sealed: string, attempts: number): Promise<ReadOutcome> => {
    const files = JSON.parse(vault.open(files_sealed, importContext(uuid, 'files'))) as SourceFile[];
    if (attempts > MOST_ATTEMPTS) return unreadable(files, 'the service ended each time while the upload was read');
    try {
      return await read(files);
    } catch (err) {
      log.error({ err, uuid }, 'an upload could not be read');
      return unreadable(files, 'the upload could not be read: a fault of the service, see its log');
    }
  };

  const readOnce = async (uuid: string): Promise<void> => {
    const begun = await store(db).beginReading(uuid, clock().toISOString());
    if (!begun?.files_sealed) return;
    const outcome = await outcomeOf(uuid, begun.files_sealed, begun.attempts);
    // Sealed inside: a rotation of the key is either over or waits.
    await transactAside((tx) =>
      store(tx).read(uuid, {
        state: stateOf(outcome),
        source: outcome.source,
        reading_sealed: vault.seal(outcome.text, importContext(uuid, 'reading')),
        updated_at: clock().toISOString(),
      }),
    );
  };

  /** Begins to read a session, unless this process is at it; never rejects. */
  const begin = (uuid: string): Promise<void> => {
    const running = underway.get(uuid);
    if (running) return running;
    const reading = readOnce(uuid)
      .catch((err: unknown) => log.error({ err, uuid }, 'an import could not be read; it is tried again'))
      .finally(() => underway.delete(uuid));
    underway.set(uuid, reading);
    return reading;
  };

  const isAbandoned = ({ uuid, updated_at }: StoredSession): boolean =>
    !underway.has(uuid) && clock().getTime() - Date.parse(updated_at) > ABANDONED_MS;

  return {
    begin,

    /** The session once it is read, by this node or another; as it is when that takes too long. */
    async whenRead(session: StoredSession): Promise<StoredSession> {
      const until = performance.now() + PATIENCE_MS;
      let now = session;
      for (let left = PATIENCE_MS; now.state === 'parsing' && left > 0; left = until - performance.now()) {
        if (isAbandoned(now)) void begin(now.uuid);
        const here = underway.get(now.uuid);
        // What another node reads only the store tells of.
        const patience = delay(here ? left : Math.min(LOOK_MS, left), undefined, { ref: false });
        await (here ? Promise.race([here, patience]) : patience);
        now = (await store(db).find(now.uuid)) ?? now;
      }
      return now;
    },

    /** What was read; undefined when it is forgotten. */
    async open(uuid: string): Promise<Reading | undefined> {
      const sealed = await store(db).reading(uuid);
      return sealed === null ? undefined : (JSON.parse(vault.open(sealed, importContext(uuid, 'reading'))) as Reading);
    },

    /** Reads what a process that ended had not. */
    async takeUp(): Promise<void> {
      for (const uuid of await store(db).parsing()) void begin(uuid);
    },

    /** Resolves when nothing is being read. */
    async idle(): Promise<void> {
      await Promise.all(underway.values());
    },
  };
};
