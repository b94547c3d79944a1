import type {
  BulkPatch,
  ListQuery,
  NewProxyHost,
  ProxyHost,
  ProxyHostPatch,
  ProxyHostsSummary,
} from '@sallyport/contract';
import type { Actor, RecordChange, RecordChanges } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { anyVersion } from '@sallyport/store/object-version';
import type { HostRoute } from '../../../dataplane/routes/source.ts';
import type { KnownIdentity } from '../../object-reverter.ts';
import { createBringIn } from './bring-in.ts';
import { type CompleteDeps, createComplete } from './complete.ts';
import { createMany } from './many.ts';
import { normalise } from './normalise.ts';
import { routeOf } from './route.ts';
import { createSingle, findOrRefuse, type Single } from './single.ts';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';
import { summarise } from './summary.ts';
import { createUndoMany } from './undo-many.ts';
import { type Surroundings, warningsOf } from './warnings.ts';
import type { CheckWayIn } from './way-in.ts';

/** What the service needs of the data plane. */
export interface RoutePlane {
  /** Resolves when the hosts with these ids are live as stored (or gone), or when it is known why they aren't. */
  syncHosts(ids: readonly number[]): Promise<void>;
  /** Whether HAProxy was last read back to hold this route. */
  hostState(route: HostRoute): { applied: boolean; issue: string | null };
}

export interface ProxyHostDeps extends CompleteDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => ProxyHostStore;
  plane: RoutePlane;
  /** What the fields of these hosts count on. */
  surroundings: (hosts: readonly StoredProxyHost[]) => Promise<Surroundings>;
  /** Of changes that name their hosts; whoever changes hosts `within` looks after it. */
  checkWayIn: CheckWayIn;
  record: RecordChange;
  recordMany: RecordChanges;
  clock: () => Date;
}

/** Each host once, in whatever letters and however often it is named. */
const eachOnce = (uuids: readonly string[]): Set<string> => new Set(uuids.map((uuid) => uuid.toLowerCase()));

/** So many are looked at together where all are. */
const HOSTS_A_LOOK = 2_500;

export const createProxyHosts = ({
  db,
  transact,
  store,
  plane,
  reservedOrigin,
  surroundings,
  checkWayIn,
  record,
  recordMany,
  clock,
}: ProxyHostDeps) => {
  const withState = (host: StoredProxyHost) => ({ ...host, ...plane.hostState(routeOf(host)) });

  const toWire = async (hosts: readonly StoredProxyHost[]): Promise<ProxyHost[]> => {
    const around = await surroundings(hosts);
    return hosts.map((host) => ({ ...withState(host), warnings: warningsOf(host, around) }));
  };

  const oneToWire = async (host: StoredProxyHost): Promise<ProxyHost> => {
    const around = await surroundings([host]);
    return { ...withState(host), warnings: warningsOf(host, around) };
  };

  const complete = createComplete({ reservedOrigin });
  const single = createSingle({ store, complete, withState, record, clock });
  const many = createMany({ store, ...complete, clock });

  const guarded = {
    async update(...change: Parameters<Single['update']>): Promise<StoredProxyHost> {
      const { before, after } = await single.update(...change);
      const [, , , actor] = change;
      checkWayIn(before, after, actor);
      return after;
    },
    async remove(...change: Parameters<Single['remove']>): Promise<StoredProxyHost> {
      const before = await single.remove(...change);
      const [, , actor] = change;
      checkWayIn(before, undefined, actor);
      return before;
    },
  };

  return {
    /** The same changes in a transaction of the caller, who has to sync the hosts afterwards. */
    within: {
      create: (tx: Executor, input: NewProxyHost, actor: Actor, known: KnownIdentity) =>
        single.create(tx, normalise(input), actor, known),
      update: async (tx: Executor, named: Identifier, patch: ProxyHostPatch, actor: Actor) =>
        (await single.update(tx, named, normalise(patch), actor, anyVersion)).after,
      remove: (tx: Executor, named: Identifier, actor: Actor) => single.remove(tx, named, actor, anyVersion),
      /** Takes changes of many hosts back; undefined for who may not do that to any. */
      undoMany: createUndoMany({ store, normalise, many, recordMany }),
      /** Takes many hosts in, each as far as it can be. */
      bringIn: createBringIn({
        store,
        normalise,
        recordMany,
        changes: {
          create: single.create,
          many,
          update: async (tx, uuid, patch, actor, write) =>
            (await single.update(tx, uuid, patch, actor, anyVersion, write)).after,
          remove: (tx, uuid, actor, write) => single.remove(tx, uuid, actor, anyVersion, write),
        },
      }),
    },

    wouldBe: complete.wouldBe,

    /** The hosts that have these names, by name. */
    ownersByName: (executor: Executor, names: readonly string[]) => store(executor).ownersByName(names),

    async list(query: ListQuery): Promise<Page<ProxyHost>> {
      const page = await store(db).list(query);
      return { ...page, rows: await toWire(page.rows) };
    },

    /** How all of them stand, without sending them. */
    async summary(): Promise<ProxyHostsSummary> {
      // What hosts count on is read once for each look.
      async function* portions() {
        let gathered: StoredProxyHost[] = [];
        for await (const portion of store(db).all()) {
          gathered.push(...portion);
          if (gathered.length < HOSTS_A_LOOK) continue;
          yield toWire(gathered);
          gathered = [];
        }
        yield toWire(gathered);
      }
      return summarise(portions());
    },

    async get(named: Identifier): Promise<ProxyHost> {
      return oneToWire(await findOrRefuse(store(db), named));
    },

    /** Stores a new host and waits until the proxy serves it, or says in the host's `issue` why it doesn't. */
    async create(input: NewProxyHost, actor: Actor): Promise<ProxyHost> {
      const normalised = normalise(input);
      const host = await transact((tx) => single.create(tx, normalised, actor));
      await plane.syncHosts([host.id]);
      return oneToWire(host);
    },

    /** Changes what is given. Throws a 412 when `checkVersion` refuses the host as it is. */
    async update(
      named: Identifier,
      patch: ProxyHostPatch,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<ProxyHost> {
      const normalised = normalise(patch);
      const host = await transact((tx) => guarded.update(tx, named, normalised, actor, checkVersion));
      await plane.syncHosts([host.id]);
      return oneToWire(host);
    },

    async remove(named: Identifier, actor: Actor, checkVersion = anyVersion): Promise<void> {
      const { id } = await transact((tx) => guarded.remove(tx, named, actor, checkVersion));
      await plane.syncHosts([id]);
    },

    /** Changes many hosts alike, all or none. */
    async updateMany({ uuids, patch }: BulkPatch, actor: Actor): Promise<ProxyHost[]> {
      if (patch.domain !== undefined) throw refuse.invalid('patch.domain can not be given to several hosts');
      const normalised = normalise(patch);
      const hosts = await transact(async (tx) => {
        const updated: StoredProxyHost[] = [];
        for (const uuid of eachOnce(uuids)) updated.push(await guarded.update(tx, uuid, normalised, actor, anyVersion));
        return updated;
      });
      await plane.syncHosts(hosts.map(({ id }) => id));
      return toWire(hosts);
    },

    /** Deletes many hosts, all or none; returns how many. */
    async removeMany(uuids: readonly string[], actor: Actor): Promise<number> {
      const ids = await transact(async (tx) => {
        const removed: number[] = [];
        for (const uuid of eachOnce(uuids)) {
          const { id } = await guarded.remove(tx, uuid, actor, anyVersion);
          removed.push(id);
        }
        return removed;
      });
      await plane.syncHosts(ids);
      return ids.length;
    },
  };
};
export type ProxyHosts = ReturnType<typeof createProxyHosts>;
