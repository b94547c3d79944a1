import { randomUUID } from 'node:crypto';
import { formatNetwork, InvalidNetwork, type Network, overlaps, parseNetwork } from '@sallyport/access';
import type { Decision, DecisionQuery, NewDecision, Warning } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import { parseDuration } from './duration.ts';
import type { DecisionStore, ImportedDecision, StoredDecision } from './store.ts';

/** What the service needs of enforcement. */
export interface DecisionPlane {
  /**
   * Resolves when the bans of these networks are enforced as stored, or when it is known why they aren't.
   * `version` is that of the change, so that enforcement knows whether it missed others'.
   */
  decisionsChanged(networks: readonly string[], version: number): Promise<void>;
}

export interface DecisionDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => DecisionStore;
  /** Canonical networks of `admin_whitelist`. */
  whitelist: (executor: Executor) => Promise<readonly string[]>;
  plane: DecisionPlane;
  /** Which modules act at the moment. */
  inForce: () => { guard: boolean; crowdsec: boolean };
  record: RecordChange;
  clock: () => Date;
}

const parseIp = (text: string): Network => {
  try {
    return parseNetwork(text);
  } catch (error) {
    if (error instanceof InvalidNetwork) throw refuse.invalid(`ip ${error.message}`);
    throw error;
  }
};

/** The caller's own address, where it has one; a job has none. */
const addressOf = (actor: Actor): Network | undefined => {
  try {
    return parseNetwork(actor.ip.replace(/%.*$/, ''));
  } catch {
    return undefined;
  }
};

/** Why a decision is not enforced at the moment; empty when it is. */
const warningsOf = (
  { source }: StoredDecision,
  { guard, crowdsec }: { guard: boolean; crowdsec: boolean },
): Warning[] => {
  const warn = (message: string): Warning[] => [{ field: 'action', message }];
  if (!guard) return warn('is not enforced: the security suite is switched off');
  if (source !== 'crowdsec' || crowdsec) return [];
  return warn('is not enforced: decisions of CrowdSec are switched off (security.crowdsec.enabled)');
};

const historyOf = ({ uuid }: StoredDecision): string => `security/decisions/${uuid}`;

/** What a change of a decision left, and the version that it made. */
export interface Changed {
  decision: StoredDecision;
  version: number;
}

export const createDecisions = (deps: DecisionDeps) => {
  const { db, transact, store, whitelist, plane, inForce, record, clock } = deps;
  const now = () => clock().toISOString();

  const toWire = (decision: StoredDecision): Decision => ({ ...decision, warnings: warningsOf(decision, inForce()) });

  const findIn = async (executor: Executor, named: Identifier): Promise<StoredDecision> => {
    const decision = await store(executor).find(named, now());
    if (!decision) throw refuse.notFound('Decision not found');
    return decision;
  };

  /** A ban must not hit who makes it, nor an administrator: that is how people lock themselves out. */
  const refuseLockOut = async (tx: Executor, network: Network, actor: Actor): Promise<void> => {
    const caller = addressOf(actor);
    if (caller && overlaps(network, caller)) {
      throw refuse.conflict('decision would ban the address this request comes from');
    }
    const entry = (await whitelist(tx)).find((text) => overlaps(network, parseNetwork(text)));
    if (entry !== undefined) throw refuse.conflict(`decision would ban ${entry}, which is in admin_whitelist`);
  };

  const insertIn = async (
    tx: Executor,
    given: Omit<StoredDecision, 'id'> & { id?: number },
    actor: Actor,
  ): Promise<Changed> => {
    await refuseLockOut(tx, parseIp(given.ip), actor);
    const decision = await store(tx).insert(given);
    const resource = `security/decisions/${decision.id}`;
    const history = [{ resource: historyOf(decision), after: decision }];
    await record(tx, { action: 'decision.create', actor, resource, after: decision, history });
    return { decision, version: await store(tx).raiseVersion() };
  };

  const deleteIn = async (
    tx: Executor,
    named: Identifier,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<Changed> => {
    const before = await findIn(tx, named);
    checkVersion(before);
    await store(tx).delete(before.id);
    const resource = `security/decisions/${before.id}`;
    // Those of a program come and go with its list.
    const history = before.source === 'manual' ? [{ resource: historyOf(before), before }] : [];
    await record(tx, { action: 'decision.delete', actor, resource, before, history });
    return { decision: before, version: await store(tx).raiseVersion() };
  };

  return {
    /** The same changes in a transaction of the caller, who tells the plane afterwards. */
    within: {
      current: (tx: Executor, named: Identifier) => store(tx).find(named, now()),
      create: insertIn,
      remove: (tx: Executor, named: Identifier, actor: Actor) => deleteIn(tx, named, actor, anyVersion),
    },

    async list(query: DecisionQuery): Promise<Page<Decision>> {
      const page = await store(db).list(query, now());
      return { ...page, rows: page.rows.map(toWire) };
    },

    /** Throws a 404, also for a decision that has ended but was not swept yet. */
    async get(named: Identifier): Promise<Decision> {
      return toWire(await findIn(db, named));
    },

    /** Decisions in force. */
    count: (): Promise<number> => store(db).count(now()),

    /** Stores a manual decision and waits until it is enforced, or until it is known why it is not. */
    async create(input: NewDecision, actor: Actor): Promise<Decision> {
      const network = parseIp(input.ip);
      const lifetimeMs = input.duration === undefined ? undefined : parseDuration(input.duration);
      const created = clock();
      const fields = {
        uuid: randomUUID(),
        ip: formatNetwork(network),
        action: input.action,
        details: input.details ?? '',
        source: 'manual',
        created_at: created.toISOString(),
        expires_at: lifetimeMs === undefined ? null : new Date(created.getTime() + lifetimeMs).toISOString(),
      };
      const { decision, version } = await transact((tx) => insertIn(tx, fields, actor));
      await plane.decisionsChanged([decision.ip], version);
      return toWire(decision);
    },

    async remove(named: Identifier, actor: Actor, checkVersion = anyVersion): Promise<void> {
      const { decision, version } = await transact((tx) => deleteIn(tx, named, actor, checkVersion));
      await plane.decisionsChanged([decision.ip], version);
    },

    /** Live decisions of one source. */
    async ofSource(source: string): Promise<readonly ImportedDecision[]> {
      const time = now();
      const found = await store(db).ofSource(source);
      return found.filter(({ expires_at }) => expires_at === null || expires_at > time);
    },

    /** Ends decisions of this source about these networks. */
    async removeOfSource(source: string, networks: readonly string[], actor: Actor): Promise<void> {
      const version = await transact(async (tx) => {
        await store(tx).deleteOfSource(source, networks);
        const after = { source, added: 0, removed: networks.length, networks: networks.slice(0, 20) };
        await record(tx, { action: 'decision.import', actor, resource: 'security/decisions', after });
        return store(tx).raiseVersion();
      });
      await plane.decisionsChanged(networks, version);
    },

    /**
     * Makes the decisions of a program exactly these (its full list), touching only what differs.
     * Networks must be canonical; of several with the same network the last counts. Returns what it did.
     */
    async replaceSource(
      source: string,
      decisions: readonly ImportedDecision[],
      actor: Actor,
    ): Promise<{ added: number; removed: number }> {
      const wanted = new Map(decisions.map((decision) => [decision.ip, decision]));
      const { version, changed, result } = await transact(async (tx) => {
        const before = new Map((await store(tx).ofSource(source)).map((decision) => [decision.ip, decision]));
        const isSame = (a: ImportedDecision, b: ImportedDecision | undefined) =>
          b !== undefined && a.expires_at === b.expires_at && a.details === b.details;
        const removed = [...before.values()].filter((old) => !isSame(old, wanted.get(old.ip))).map(({ ip }) => ip);
        const added = [...wanted.values()].filter((decision) => !isSame(decision, before.get(decision.ip)));
        const result = { added: added.length, removed: removed.length };
        if (added.length + removed.length === 0) return { version: undefined, changed: [], result };
        await store(tx).deleteOfSource(source, removed);
        await store(tx).insertMany(source, added, now());
        await record(tx, {
          action: 'decision.import',
          actor,
          resource: 'security/decisions',
          after: { source, ...result },
        });
        const changed = [...new Set([...removed, ...added.map(({ ip }) => ip)])];
        return { version: await store(tx).raiseVersion(), changed, result };
      });
      if (version !== undefined) await plane.decisionsChanged(changed, version);
      return result;
    },

    /** Applies a difference of a program's list: removals first, then additions, which replace their own network. */
    async updateSource(
      source: string,
      change: { add: readonly ImportedDecision[]; remove: readonly string[] },
      actor: Actor,
    ): Promise<void> {
      const add = [...new Map(change.add.map((decision) => [decision.ip, decision])).values()];
      const networks = [...new Set([...change.remove, ...add.map(({ ip }) => ip)])];
      if (networks.length === 0) return;
      const version = await transact(async (tx) => {
        await store(tx).deleteOfSource(source, networks);
        await store(tx).insertMany(source, add, now());
        const counts = { source, added: add.length, removed: change.remove.length };
        await record(tx, { action: 'decision.import', actor, resource: 'security/decisions', after: counts });
        return store(tx).raiseVersion();
      });
      await plane.decisionsChanged(networks, version);
    },
  };
};
export type Decisions = ReturnType<typeof createDecisions>;
