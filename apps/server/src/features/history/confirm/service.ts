import type { Confirmation, ListQuery, NotificationEvent } from '@sallyport/contract';
import { type Actor, type RecordChange, systemActor } from '@sallyport/store/actor';
import type { ConfirmationRow } from '@sallyport/store/database/history-tables';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { confirmationStore, ownerOf, wayOf } from '@sallyport/store/history/confirmations';
import type { HistoryStore } from '@sallyport/store/history/store';
import type { Logger } from 'pino';
import { type Reverting, settleAll, type Undo } from '../revert.ts';
import { shownActor, type Viewer } from '../service.ts';

export interface ConfirmDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => HistoryStore;
  undo: Undo;
  record: RecordChange;
  /** Told to the live log and to whoever gets notifications. */
  tell: (event: NotificationEvent) => void;
  clock: () => Date;
  log: Logger;
}

/** After an attempt that failed. */
const RETRY_MS = 5_000;

const resourceOf = (id: string): string => `security/confirm/${id}`;
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const createConfirmations = (deps: ConfirmDeps) => {
  const { db, transact, store, undo, record, tell, clock, log } = deps;
  /** When those that failed are tried again, by id; in milliseconds since the epoch. */
  const retries = new Map<string, number>();

  const toWire = (row: ConfirmationRow, resources: string[], viewer: Viewer): Confirmation => {
    const { id, actor, created_at, reverts_at, attempts, issue } = row;
    const shown = resources.filter((resource) => !viewer.hidden.some((path) => resource.startsWith(`${path}/`)));
    return { id, actor: shownActor(actor, viewer), created_at, reverts_at, resources: shown, attempts, issue };
  };

  /** Takes one back in the store, as far as it fits; undefined when another node did or it was confirmed in the last moment. */
  const takeBack = (id: string) =>
    transact(async (tx) => {
      if (!(await confirmationStore(tx).end(id))) return undefined;
      const actor = { ...systemActor('not confirmed'), requestId: crypto.randomUUID() };
      const reverting: Reverting = { actor, allows: () => true, showActor: (name) => name };
      const done = await undo.asFarAsItFits(tx, await store(tx).ofBatch(id), reverting);
      const after = { reverted: done.reverted, ...(done.left.length > 0 ? { left: done.left } : {}) };
      await record(tx, { action: 'change.not_confirmed', actor, resource: resourceOf(id), after });
      return done;
    });

  const tellOf = ({ id, actor }: ConfirmationRow, reverted: readonly string[], left: readonly string[]): void => {
    const kept = left.length === 0 ? '' : `; left as it is: ${left.join('; ')}`;
    const message = `A change by ${actor} was not confirmed and is taken back: ${reverted.join(', ')}${kept}`;
    log.warn({ id, actor, reverted, left }, 'a change was not confirmed and is taken back');
    tell({
      event_type: 'change_reverted',
      severity: 'warn',
      timestamp: clock().toISOString(),
      message,
      details: { confirmation: id, resources: reverted },
    });
  };

  const failed = async (row: ConfirmationRow, error: unknown): Promise<void> => {
    const { id, attempts } = row;
    retries.set(id, clock().getTime() + RETRY_MS);
    const issue = reasonOf(error);
    // What is the same each time is told once.
    if (row.issue !== issue) {
      log.error({ err: error, id }, 'a change that was not confirmed can not be taken back; it is tried again');
      const message = `A change by ${row.actor} was not confirmed and can not be taken back yet: ${issue}`;
      const timestamp = clock().toISOString();
      tell({ event_type: 'change_reverted', severity: 'error', timestamp, message, details: { confirmation: id } });
    }
    // A store that is away takes no note either; then the log has it.
    await confirmationStore(db)
      .noteFailure(id, attempts + 1, issue)
      .catch(() => undefined);
  };

  return {
    /** Takes back what was not confirmed in time. `isSettled`: false at a start, when everything is read from the store anyhow. */
    async takeOverdueBack(isSettled = true): Promise<void> {
      const now = clock();
      const overdue = (await confirmationStore(db).list()).filter(
        ({ reverts_at }) => Date.parse(reverts_at) <= now.getTime(),
      );
      for (const row of overdue) {
        if ((retries.get(row.id) ?? 0) > now.getTime()) continue;
        try {
          const done = await takeBack(row.id);
          retries.delete(row.id);
          if (!done) continue;
          tellOf(row, done.reverted, done.left);
          // In the store it is back: whoever compares that with the proxy makes up for the rest.
          if (isSettled) {
            await settleAll(done.touched).catch((err: unknown) =>
              log.error({ err, id: row.id }, 'what was taken back could not be taken to the proxy'),
            );
          }
        } catch (error) {
          await failed(row, error);
        }
      }
    },

    /** What waits, soonest first: one's own, or all for who may change what protects. */
    async list(query: ListQuery, viewer: Viewer, seesAll: boolean): Promise<Page<Confirmation>> {
      const changes = await confirmationStore(db).changes();
      const rows = await confirmationStore(db).list();
      const shown = rows
        .filter(({ owner }) => seesAll || owner === ownerOf(viewer.actor))
        .map((row) =>
          toWire(
            row,
            changes.filter(({ id }) => id === row.id).map(({ resource }) => resource),
            viewer,
          ),
        );
      return pageOfRows(shown, query, { sortable: ['reverts_at', 'created_at', 'actor'], searchable: ['actor'] });
    },

    /**
     * Keeps a change. Throws a 404, a 410 when its time is over, and a 403 for another than who made it, or one who came by
     * another way: that those get through says nothing of the one it is about.
     */
    async confirm(id: string, actor: Actor): Promise<void> {
      await transact(async (tx) => {
        const row = await confirmationStore(tx).find(id);
        if (!row) throw refuse.notFound('Nothing waits to be confirmed under this id');
        if (row.owner !== ownerOf(actor)) throw refuse.forbidden('Only who made a change can confirm it');
        if (row.way !== wayOf(actor)) {
          const details = `the change was made ${row.way}, this came ${wayOf(actor)}`;
          throw refuse.forbidden('A change is confirmed by the way it was made', { details });
        }
        if (Date.parse(row.reverts_at) <= clock().getTime()) throw refuse.gone('It is too late: the change goes back');
        await confirmationStore(tx).end(id);
        await record(tx, { action: 'change.confirm', actor, resource: resourceOf(id) });
      });
    },
  };
};
export type Confirmations = ReturnType<typeof createConfirmations>;
