import { randomBytes } from 'node:crypto';
import type { AuditEntry, AuditQuery } from '@sallyport/contract';
import { actorName, type ChangeEntry, type RecordChange, type RecordChanges, systemActor } from '../actor.ts';
import type { Page } from '../database/listing.ts';
import type { Executor, TransactAside } from '../database/open.ts';
import { inPortions } from '../database/portions.ts';
import { storable } from '../database/storable.ts';
import { refuse } from '../errors.ts';
import { CHAIN_KEY_CONTEXT } from '../secrets/contexts.ts';
import type { Vault } from '../secrets/vault.ts';
import { createBatches } from './batches.ts';
import { GENESIS, hashEnd, hashEntry } from './chain.ts';
import { differenceOf } from './difference.ts';
import type { AuditStore, StoredEntry } from './store.ts';
import { type ChainReport, verifyChain } from './verify.ts';

export interface AuditDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => AuditStore;
  vault: Vault;
  clock: () => Date;
}

const NOTE_INTERVAL_MS = 100;
const DAY_MS = 86_400_000;

const parseMoment = (name: string, text: string): string => {
  const moment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i.test(text)
    ? Date.parse(text.toUpperCase())
    : Number.NaN;
  if (Number.isNaN(moment)) throw refuse.invalid(`${name} must be a timestamp, e.g. 2026-01-31T12:00:00Z`);
  return new Date(moment).toISOString();
};

export const createAudit = ({ db, transactAside, store, vault, clock }: AuditDeps) => {
  /** Appends entries to the chain; the chain's row lock holds until the transaction ends. */
  const recordMany: RecordChanges = async (tx, entries) => {
    if (entries.length === 0) return;
    const audit = store(tx);
    const chain = await audit.lockChain();
    const key =
      chain.key_sealed === '' ? randomBytes(32).toString('hex') : vault.open(chain.key_sealed, CHAIN_KEY_CONTEXT);
    let last = { id: chain.head_id, hash: chain.head_id === 0 ? GENESIS : chain.head_hash };
    const chained = ({ action, actor, resource, before, after }: ChangeEntry): StoredEntry => {
      const entry = {
        id: last.id + 1,
        timestamp: clock().toISOString(),
        action,
        actor: storable(actorName(actor)),
        ip: storable(actor.ip),
        user_agent: storable(actor.userAgent),
        method: actor.method,
        path: storable(actor.path),
        resource: storable(resource),
        details: JSON.stringify(differenceOf(before, after)).replaceAll('\\u0000', ''),
      };
      last = { id: entry.id, hash: hashEntry(key, last.hash, entry) };
      return { ...entry, hash: last.hash };
    };
    for await (const portion of inPortions(entries)) await audit.insert(portion.map(chained));
    await audit.setChain({
      head_id: last.id,
      head_hash: last.hash,
      head_mac: hashEnd(key, 'head', last.id, last.hash),
      ...(chain.key_sealed === '' ? { key_sealed: vault.seal(key, CHAIN_KEY_CONTEXT) } : {}),
    });
  };

  const record: RecordChange = (tx, entry) => recordMany(tx, [entry]);

  /** A flood of refused sign-ins must not make the disk sync once for each of them: everybody else waits meanwhile. */
  const note = createBatches<ChangeEntry>(
    (entries) => transactAside((tx) => recordMany(tx, entries)),
    NOTE_INTERVAL_MS,
  );

  return {
    record,
    recordMany,

    /** Writes down an event that changes nothing else, such as a refused sign-in. */
    note,

    /** Entries, newest first. Throws a 400 that names the parameter. */
    async list(query: AuditQuery): Promise<Page<AuditEntry>> {
      return store(db).list({
        ...query,
        ...(query.start === undefined ? {} : { start: parseMoment('start', query.start) }),
        ...(query.end === undefined ? {} : { end: parseMoment('end', query.end) }),
      });
    },

    /** Rejects when the vault's key is not the one the store was sealed with: then nothing could be changed or opened. */
    async checkKey(): Promise<void> {
      const { key_sealed } = await store(db).readChain();
      if (key_sealed !== '') vault.open(key_sealed, CHAIN_KEY_CONTEXT);
    },

    /** Recomputes every hash; tells the first entry that doesn't fit. */
    verify(): Promise<ChainReport> {
      return verifyChain(store(db), vault);
    },

    /** Removes entries older than `days`; what is left can still be verified. Returns how many went. 0 days: none. */
    async prune(days: number): Promise<number> {
      if (days === 0) return 0;
      const moment = new Date(clock().getTime() - days * DAY_MS).toISOString();
      return transactAside(async (tx) => {
        const audit = store(tx);
        const last = await audit.lastBefore(moment);
        if (!last) return 0;
        const { key_sealed } = await audit.readChain();
        const key = vault.open(key_sealed, CHAIN_KEY_CONTEXT);
        const removed = await audit.deleteUpTo(last.id);
        await audit.setChain({
          anchor_id: last.id,
          anchor_hash: last.hash,
          anchor_mac: hashEnd(key, 'anchor', last.id, last.hash),
        });
        await record(tx, {
          action: 'audit.prune',
          actor: systemActor('audit retention'),
          resource: 'audit-logs',
          after: { removed, up_to_id: last.id, older_than: moment },
        });
        return removed;
      });
    },
  };
};
export type Audit = ReturnType<typeof createAudit>;
