import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { actorName, type ChangeEntry, type KeptChange, type RecordChange, type RecordChanges } from '../actor.ts';
import type { HistoryRow } from '../database/history-tables.ts';
import type { Executor } from '../database/open.ts';
import { inPortions } from '../database/portions.ts';
import { storable } from '../database/storable.ts';
import { historyContext } from '../secrets/contexts.ts';
import type { Vault } from '../secrets/vault.ts';
import { awaitConfirmation, mayAlways, refuseWhilePending } from './confirmations.ts';
import { type Change, changeOf, type State } from './state.ts';
import { historyStore, type StoredChange } from './store.ts';

/** What stands for a secret. */
const MASK = '***';

/** An overhead that every change has, as it lies in the store: its row without the texts, and its entries in the indexes. */
const ROW_BYTES = 300;

const pick = (state: State | null, names: readonly string[]): State | null =>
  state && Object.fromEntries(names.filter((name) => name in state).map((name) => [name, state[name]]));

const withoutSecrets = (state: State | null, names: readonly string[]): State | null => {
  if (!state || names.length === 0) return state;
  const hidden = names.filter((name) => (state[name] ?? '') !== '').map((name) => [name, MASK]);
  return { ...state, ...Object.fromEntries(hidden) };
};

const textOf = (state: State | null): string | null =>
  // PostgreSQL's text takes no NUL.
  state && JSON.stringify(state).replaceAll('\\u0000', '');

/** What a stored change made different, its secrets opened. Throws when the key that sealed them is gone. */
export const openChange = (stored: StoredChange, vault: Vault): Change => {
  const shown = closedChange(stored);
  if (stored.secrets_sealed === null) return shown;
  const text = vault.open(stored.secrets_sealed, historyContext(stored.batch, stored.resource));
  const { before, after } = JSON.parse(text) as Change;
  return {
    before: shown.before && { ...shown.before, ...before },
    after: shown.after && { ...shown.after, ...after },
  };
};

/** What a stored change made different, without its secrets. */
export const closedChange = ({ before_state, after_state }: StoredChange): Change => ({
  before: before_state === null ? null : (JSON.parse(before_state) as State),
  after: after_state === null ? null : (JSON.parse(after_state) as State),
});

/** Makes the function that keeps what can be taken back of every change, in the transaction that makes it. */
export const createHistory = ({ vault, clock }: { vault: Vault; clock: () => Date }): RecordChanges => {
  /** The row of a change; undefined when it made nothing different that anybody chose. */
  const rowOf = (
    batch: string,
    { action, actor }: ChangeEntry,
    kept: KeptChange,
  ): Insertable<HistoryRow> | undefined => {
    const { resource, before, after, secret = [] } = kept;
    const change = changeOf(before, after);
    if (!change) return undefined;
    const secrets = { before: pick(change.before, secret), after: pick(change.after, secret) };
    const before_state = textOf(withoutSecrets(change.before, secret));
    const after_state = textOf(withoutSecrets(change.after, secret));
    const secrets_sealed =
      secret.length === 0 ? null : vault.seal(JSON.stringify(secrets), historyContext(batch, resource));
    const bytes = [before_state, after_state, secrets_sealed].reduce(
      (sum, text) => sum + Buffer.byteLength(text ?? ''),
      ROW_BYTES,
    );
    return {
      batch,
      resource,
      action,
      actor: storable(actorName(actor)),
      created_at: clock().toISOString(),
      reverts: actor.reverts ?? null,
      bytes,
      before_state,
      after_state,
      secrets_sealed,
    };
  };

  const rowsOf = async (tx: Executor, entry: ChangeEntry): Promise<Insertable<HistoryRow>[]> => {
    const { action, actor, history = [] } = entry;
    if (history.length === 0) return [];
    const batch = actor.requestId ?? randomUUID();
    const resources = history.map(({ resource }) => resource);
    if (!mayAlways(action, actor)) await refuseWhilePending(tx, resources, { batch, reverts: actor.reverts });
    const rows = history.map((kept) => rowOf(batch, entry, kept)).filter((row) => row !== undefined);
    if (actor.confirm && rows.length > 0) await awaitConfirmation(tx, batch, actor, clock());
    return rows;
  };

  return async (tx, entries) => {
    for await (const portion of inPortions(entries)) {
      const rows: Insertable<HistoryRow>[] = [];
      for (const entry of portion) rows.push(...(await rowsOf(tx, entry)));
      await historyStore(tx).insert(rows);
    }
  };
};

/** Writes changes down in several places, one after the other, in their transaction. */
export const recordAll =
  (...places: readonly RecordChanges[]): RecordChanges =>
  async (tx, entries) => {
    for (const record of places) await record(tx, entries);
  };

/** Writes one change down where many can be. */
export const oneByOne =
  (record: RecordChanges): RecordChange =>
  (tx, entry) =>
    record(tx, [entry]);
