import { randomUUID } from 'node:crypto';
import type { SourceFile } from '@sallyport/import';
import { type Actor, actorName, type RecordChange } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { storable } from '@sallyport/store/database/storable';
import { refuse } from '@sallyport/store/errors';
import { ownerOf } from '@sallyport/store/history/confirmations';
import { importContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { ImportStore, StoredSession } from './store.ts';

export interface ActiveSessionDeps {
  store: (executor: Executor) => ImportStore;
  vault: Vault;
  record: RecordChange;
  clock: () => Date;
}

/** What a new session has: files that are still to be read, or what was read of them. */
export type NewSession = Pick<StoredSession, 'state' | 'source'> & {
  sealed: { what: 'files' | 'reading'; text: string };
};

/** Path of a session below the API root. */
export const resourceOf = (uuid: string): string => `import/sessions/${uuid}`;

/** The one session that is under way: how it begins and how it is given up, in transactions of the caller. */
export const createActiveSession = ({ store, vault, record, clock }: ActiveSessionDeps) => {
  /** Ends an active session; false when it had ended. */
  const cancelIn = async (tx: Executor, uuid: string, actor: Actor, why: object): Promise<boolean> => {
    const ended = await store(tx).end(uuid, { state: 'cancelled', outcome: null, updated_at: clock().toISOString() });
    const after = { state: 'cancelled', ...why };
    if (ended) await record(tx, { action: 'import.cancel', actor, resource: resourceOf(uuid), after });
    return ended;
  };

  /** Room for a new session: one's own earlier one ends by it, that of somebody else is in the way. */
  const makeRoom = async (tx: Executor, actor: Actor, replaced_by: string): Promise<void> => {
    await store(tx).forgetFailures();
    const active = await store(tx).active();
    if (!active) return;
    if (active.owner !== ownerOf(actor)) {
      const since = `since ${active.created_at}, ${active.filename} of ${active.actor}`;
      throw refuse.conflict(`Import session ${active.uuid} is active`, {
        details: `${since}: commit it, or end it with DELETE /import/cancel?session_uuid=${active.uuid}`,
      });
    }
    await cancelIn(tx, active.uuid, actor, { replaced_by });
  };

  return {
    cancelIn,

    /** Begins a session. Throws a 409 while that of somebody else is active. */
    async beginIn(
      tx: Executor,
      files: readonly SourceFile[],
      { sealed: { what, text }, ...known }: NewSession,
      actor: Actor,
    ): Promise<StoredSession> {
      const now = clock().toISOString();
      const session = {
        ...known,
        uuid: randomUUID(),
        filename: files[0]?.name ?? '',
        actor: storable(actorName(actor)),
        owner: ownerOf(actor),
        attempts: 0,
        outcome: null,
        created_at: now,
        updated_at: now,
      };
      await makeRoom(tx, actor, session.uuid);
      const sealed = vault.seal(text, importContext(session.uuid, what));
      const texts = { files_sealed: null, reading_sealed: null, [`${what}_sealed`]: sealed };
      await store(tx).insert({ ...session, ...texts });
      const bytes = files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
      const after = { filename: session.filename, files: files.length, bytes };
      await record(tx, { action: 'import.upload', actor, resource: resourceOf(session.uuid), after });
      return session;
    },
  };
};
