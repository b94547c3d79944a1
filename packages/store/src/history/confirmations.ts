import { type Actor, actorName } from '../actor.ts';
import type { ConfirmationRow } from '../database/history-tables.ts';
import type { Executor } from '../database/open.ts';
import { storable } from '../database/storable.ts';
import { refuse } from '../errors.ts';

/** Who made a change: by another session or token they are still the same. */
export const ownerOf = ({ identity, ip }: Actor): string => {
  switch (identity.kind) {
    case 'user':
      return `user ${identity.id}`;
    case 'anonymous':
      return `anonymous ${ip}`;
    case 'local':
      return 'local';
    case 'system':
      return `system ${identity.name}`;
    default:
      return identity satisfies never;
  }
};

/** How a request got here: that one way is open says nothing of another. */
export const wayOf = ({ isLocal, isProxied }: Actor): string => {
  if (isProxied) return 'through the proxy';
  return isLocal ? 'on this host' : 'directly, from elsewhere';
};

/** A change that waits: `id` is its confirmation's, `change` its own. */
interface PendingChange {
  id: string;
  reverts_at: string;
  change: number;
  resource: string;
}

/**
 * The query for every change that waits. As a cross join, by which SQLite starts from the few that wait: of an inner join it made a
 * walk through all of the history, on each change.
 */
export const pendingChanges = (db: Executor) =>
  db
    .selectFrom('confirmations as c')
    .crossJoin('history as h')
    .whereRef('h.batch', '=', 'c.id')
    .select(['c.id', 'c.reverts_at', 'h.id as change', 'h.resource'])
    .orderBy('h.id');

export const confirmationStore = (db: Executor) => ({
  list: (): Promise<ConfirmationRow[]> => db.selectFrom('confirmations').selectAll().orderBy('reverts_at').execute(),

  async find(id: string): Promise<ConfirmationRow | undefined> {
    return db.selectFrom('confirmations').selectAll().where('id', '=', id).executeTakeFirst();
  },

  /** Adds one; a request that changes several things waits for one confirmation. */
  async add(row: ConfirmationRow): Promise<void> {
    await db
      .insertInto('confirmations')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  },

  /** Ends the waiting; false when somebody else did. */
  async end(id: string): Promise<boolean> {
    const query = db.deleteFrom('confirmations').where('id', '=', id).returning('id');
    return (await query.executeTakeFirst()) !== undefined;
  },

  async noteFailure(id: string, attempts: number, issue: string): Promise<void> {
    await db.updateTable('confirmations').set({ attempts, issue }).where('id', '=', id).execute();
  },

  /** Every change that waits, by the objects it is about. */
  changes: (): Promise<PendingChange[]> => pendingChanges(db).execute(),
});

/** What waits, by the transaction that asked: a bulk of thousands asks once. */
const known = new WeakMap<Executor, Promise<PendingChange[]>>();

/** What gets an operator out of trouble is never held up, nor what a program of ours puts back. */
export const mayAlways = (action: string, { identity }: Actor): boolean =>
  identity.kind === 'system' || action === 'emergency.reset' || action === 'security.disable';

/**
 * Throws a 409 for a change of an object whose last change waits to be confirmed: it could not be taken back any more. The
 * request that made that one, and who takes it back, may.
 */
export const refuseWhilePending = async (
  tx: Executor,
  resources: readonly string[],
  { batch, reverts }: { batch: string; reverts: number | undefined },
): Promise<void> => {
  const asked = known.get(tx) ?? confirmationStore(tx).changes();
  known.set(tx, asked);
  const pending = await asked;
  if (pending.length === 0) return;
  const taken = pending.find(({ change }) => change === reverts)?.id;
  const inTheWay = pending.find(({ id, resource }) => id !== batch && id !== taken && resources.includes(resource));
  if (!inTheWay) return;
  const details = `until ${inTheWay.reverts_at}: POST /security/confirm/${inTheWay.id}, or take it back with POST /history/batches/${inTheWay.id}/revert`;
  throw refuse.conflict(`The last change of ${inTheWay.resource} waits to be confirmed`, { details });
};

/** Lets the changes of a request go back by themselves unless they are confirmed; in the transaction that makes them. */
export const awaitConfirmation = async (tx: Executor, batch: string, actor: Actor, now: Date): Promise<void> => {
  const { confirm } = actor;
  if (!confirm || confirm.revertsAt !== undefined) return;
  const reverts_at = new Date(now.getTime() + confirm.withinMs).toISOString();
  await confirmationStore(tx).add({
    id: batch,
    actor: storable(actorName(actor)),
    owner: ownerOf(actor),
    way: wayOf(actor),
    created_at: now.toISOString(),
    reverts_at,
    attempts: 0,
    issue: null,
  });
  confirm.revertsAt = reverts_at;
};
