import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type {
  BulkPatch,
  ListQuery,
  NewProxyHost,
  ProxyHost,
  ProxyHostFields,
  ProxyHostPatch,
  ProxyHostsSummary,
} from '@sallyport/contract';
import { PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import type { Actor, ChangeEntry, RecordChange, RecordChanges } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import type { HostRoute } from '../../../dataplane/routes/source.ts';
import type { KnownIdentity } from '../../object-reverter.ts';
import {
  checkDeletion,
  checkNew,
  checkPatch,
  isStandardUser,
  refuseUnderGuardedWildcard,
} from './administrators-part.ts';
import { createBringIn } from './bring-in.ts';
import { createMany, type References } from './many.ts';
import { checkVerification, type Normalised, normalise } from './normalise.ts';
import { routeOf } from './route.ts';
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

export interface ProxyHostDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => ProxyHostStore;
  plane: RoutePlane;
  reservedOrigin: (address: string, port: number) => string | undefined;
  /** What the fields of these hosts count on. */
  surroundings: (hosts: readonly StoredProxyHost[]) => Promise<Surroundings>;
  /** Of changes that name their hosts; whoever changes hosts `within` looks after it. */
  checkWayIn: CheckWayIn;
  record: RecordChange;
  recordMany: RecordChanges;
  clock: () => Date;
}

const REFERENCES = {
  remote_server_id: { table: 'remote_servers', what: 'remote server' },
  certificate_id: { table: 'certificates', what: 'certificate' },
  access_list_id: { table: 'access_lists', what: 'access list' },
} as const;
type Reference = keyof typeof REFERENCES;

/** So many are looked at together where all are. */
const HOSTS_A_LOOK = 2_500;
const ORIGIN_FIELDS = ['forward_host', 'forward_port', 'forward_reserved'] as const;

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

  /** Names are judged when they are looked up; an address, here already, so that the caller learns of it at once. */
  const checkOrigin = ({ forward_host, forward_port, forward_reserved }: ProxyHostFields): void => {
    if (forward_reserved || isIP(forward_host) === 0) return;
    const reason = reservedOrigin(forward_host, forward_port);
    if (reason === undefined) return;
    throw refuse.invalid(`forward_host is ${reason}: an administrator can allow it with forward_reserved`);
  };

  /** What a caller refers to by id or uuid, by id; called inside the transaction, so that it can't go meanwhile. */
  const resolveReferences = async (hosts: References, patch: ProxyHostPatch): Promise<Partial<ProxyHostFields>> => {
    const resolved: Partial<Record<Reference, number | null>> = {};
    for (const field of Object.keys(REFERENCES) as Reference[]) {
      const named = patch[field];
      if (named === undefined) continue;
      const { table, what } = REFERENCES[field];
      const id =
        named === null ? null : await hosts.idOf(table, typeof named === 'string' ? named.toLowerCase() : named);
      if (id === undefined) throw refuse.invalid(`${field} names no ${what}`);
      resolved[field] = id;
    }
    return { ...patch, ...resolved } as Partial<ProxyHostFields>;
  };

  /** `before`: the host that gets these names, when there is one. */
  const checkNames = async (
    hosts: ProxyHostStore,
    names: readonly string[],
    actor: Actor,
    before?: StoredProxyHost,
  ) => {
    if (isStandardUser(actor)) {
      // What the host has already it takes from nobody.
      const own = before?.domain.split(',') ?? [];
      const added = names.filter((name) => !own.includes(name));
      await refuseUnderGuardedWildcard(hosts, added);
    }
    const [taken] = await hosts.ownersOf(names, before?.id ?? null);
    if (taken) throw refuse.conflict(`domain ${taken.name} already belongs to proxy host ${taken.uuid}`);
  };

  const findOrRefuse = async (hosts: ProxyHostStore, named: Identifier): Promise<StoredProxyHost> => {
    const host = await hosts.find(named);
    if (!host) throw refuse.notFound('Proxy host not found');
    return host;
  };

  /** What has to go together. Throws a 400. */
  const checkWhole = (before: StoredProxyHost, after: StoredProxyHost): void => {
    checkVerification(after);
    // What is stored may be older than the rule, and is not served: it can still be named, or switched off.
    if (ORIGIN_FIELDS.some((field) => after[field] !== before[field])) checkOrigin(after);
  };

  const updateOf = (before: StoredProxyHost, after: StoredProxyHost, actor: Actor): ChangeEntry => {
    const resource = `proxy-hosts/${before.uuid}`;
    return { action: 'proxy_host.update', actor, resource, before, after, history: [{ resource, before, after }] };
  };

  const updateIn = async (
    tx: Executor,
    named: Identifier,
    { fields, names }: Normalised<ProxyHostPatch>,
    actor: Actor,
    checkVersion: CheckVersion,
    write = record,
  ): Promise<{ before: StoredProxyHost; after: StoredProxyHost }> => {
    const hosts = store(tx);
    const before = await findOrRefuse(hosts, named);
    checkVersion(withState(before));
    const patch = await resolveReferences(hosts, fields);
    if (isStandardUser(actor)) checkPatch(before, patch, names);
    if (names) await checkNames(hosts, names, actor, before);
    const updated_at = clock().toISOString();
    const after = await hosts.update(before.id, { ...patch, updated_at }, names);
    checkWhole(before, after);
    await write(tx, updateOf(before, after, actor));
    return { before, after };
  };

  /** All fields of a changed host, by what is checked of a single change. Throws a `Refusal`. */
  const completePatch = async (hosts: References, before: StoredProxyHost, fields: ProxyHostPatch) => {
    const after: StoredProxyHost = { ...before, ...(await resolveReferences(hosts, fields)) };
    checkWhole(before, after);
    return after;
  };

  /** All fields of a new host. Throws a `Refusal` for those that do not go together. */
  const completeNew = async (hosts: References, fields: NewProxyHost, actor: Actor): Promise<ProxyHostFields> => {
    const given = await resolveReferences(hosts, fields);
    if (isStandardUser(actor)) checkNew(given);
    const complete = { ...PROXY_HOST_DEFAULTS, ...given } as ProxyHostFields;
    checkVerification(complete);
    checkOrigin(complete);
    return complete;
  };

  const creationOf = (after: StoredProxyHost, actor: Actor): ChangeEntry => {
    const resource = `proxy-hosts/${after.uuid}`;
    return { action: 'proxy_host.create', actor, resource, after, history: [{ resource, after }] };
  };

  const createIn = async (
    tx: Executor,
    { fields, names = [] }: Normalised<NewProxyHost>,
    actor: Actor,
    known: KnownIdentity = {},
    write = record,
  ): Promise<StoredProxyHost> => {
    const hosts = store(tx);
    const complete = await completeNew(hosts, fields, actor);
    await checkNames(hosts, names, actor);
    const now = clock().toISOString();
    const identity = { uuid: randomUUID(), created_at: now, ...known };
    const after = await hosts.insert({ ...complete, ...identity, updated_at: now }, names);
    await write(tx, creationOf(after, actor));
    return after;
  };

  const deletionOf = (before: StoredProxyHost, actor: Actor): ChangeEntry => {
    const resource = `proxy-hosts/${before.uuid}`;
    return { action: 'proxy_host.delete', actor, resource, before, history: [{ resource, before }] };
  };

  const many = createMany({ store, completeNew, completePatch, creationOf, updateOf, deletionOf, clock });

  const deleteIn = async (
    tx: Executor,
    named: Identifier,
    actor: Actor,
    checkVersion: CheckVersion,
    write = record,
  ): Promise<StoredProxyHost> => {
    const hosts = store(tx);
    const before = await findOrRefuse(hosts, named);
    checkVersion(withState(before));
    if (isStandardUser(actor)) checkDeletion(before);
    await hosts.delete(before.id);
    await write(tx, deletionOf(before, actor));
    return before;
  };

  const guarded = {
    async update(...change: Parameters<typeof updateIn>): Promise<StoredProxyHost> {
      const { before, after } = await updateIn(...change);
      const [, , , actor] = change;
      checkWayIn(before, after, actor);
      return after;
    },
    async remove(...change: Parameters<typeof deleteIn>): Promise<StoredProxyHost> {
      const before = await deleteIn(...change);
      const [, , actor] = change;
      checkWayIn(before, undefined, actor);
      return before;
    },
  };

  return {
    /** The same changes in a transaction of the caller, who has to sync the hosts afterwards. */
    within: {
      create: (tx: Executor, input: NewProxyHost, actor: Actor, known: KnownIdentity) =>
        createIn(tx, normalise(input), actor, known),
      update: async (tx: Executor, named: Identifier, patch: ProxyHostPatch, actor: Actor) =>
        (await updateIn(tx, named, normalise(patch), actor, anyVersion)).after,
      remove: (tx: Executor, named: Identifier, actor: Actor) => deleteIn(tx, named, actor, anyVersion),
      /** Takes changes of many hosts back; undefined for who may not do that to any. */
      undoMany: createUndoMany({ store, normalise, many, recordMany }),
      /** Takes many hosts in, each as far as it can be. */
      bringIn: createBringIn({
        store,
        normalise,
        recordMany,
        changes: {
          create: createIn,
          many,
          update: async (tx, uuid, patch, actor, write) =>
            (await updateIn(tx, uuid, patch, actor, anyVersion, write)).after,
          remove: (tx, uuid, actor, write) => deleteIn(tx, uuid, actor, anyVersion, write),
        },
      }),
    },

    /** A new host as it would be stored, without looking at others. Throws a `Refusal` when it could not be. */
    wouldBe(input: NewProxyHost): Normalised<NewProxyHost> {
      const normalised = normalise(input);
      const complete = { ...PROXY_HOST_DEFAULTS, ...normalised.fields } as ProxyHostFields;
      checkVerification(complete);
      checkOrigin(complete);
      return normalised;
    },

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
      const host = await transact((tx) => createIn(tx, normalised, actor));
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
        for (const uuid of new Set(uuids))
          updated.push(await guarded.update(tx, uuid.toLowerCase(), normalised, actor, anyVersion));
        return updated;
      });
      await plane.syncHosts(hosts.map(({ id }) => id));
      return toWire(hosts);
    },

    /** Deletes many hosts, all or none; returns how many. */
    async removeMany(uuids: readonly string[], actor: Actor): Promise<number> {
      const ids = await transact(async (tx) => {
        const removed: number[] = [];
        for (const uuid of new Set(uuids)) {
          const { id } = await guarded.remove(tx, uuid.toLowerCase(), actor, anyVersion);
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
