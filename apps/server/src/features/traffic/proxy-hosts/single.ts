import { randomUUID } from 'node:crypto';
import type { NewProxyHost, ProxyHostPatch } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { CheckVersion } from '@sallyport/store/object-version';
import type { KnownIdentity } from '../../object-reverter.ts';
import { checkDeletion, checkPatch, isStandardUser, refuseUnderGuardedWildcard } from './administrators-part.ts';
import { type Complete, resolveReferences } from './complete.ts';
import { creationOf, deletionOf, updateOf } from './entries.ts';
import type { Normalised } from './normalise.ts';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';

/** Finds a host by its id or uuid. Throws a 404. */
export const findOrRefuse = async (hosts: ProxyHostStore, named: Identifier): Promise<StoredProxyHost> => {
  const host = await hosts.find(named);
  if (!host) throw refuse.notFound('Proxy host not found');
  return host;
};

/** `before`: the host that gets these names, when there is one. */
const checkNames = async (hosts: ProxyHostStore, names: readonly string[], actor: Actor, before?: StoredProxyHost) => {
  if (isStandardUser(actor)) {
    // What the host has already it takes from nobody.
    const own = before?.domain.split(',') ?? [];
    const added = names.filter((name) => !own.includes(name));
    await refuseUnderGuardedWildcard(hosts, added);
  }
  const [taken] = await hosts.ownersOf(names, before?.id ?? null);
  if (taken) throw refuse.conflict(`domain ${taken.name} already belongs to proxy host ${taken.uuid}`);
};

export interface SingleDeps {
  store: (executor: Executor) => ProxyHostStore;
  complete: Pick<Complete, 'checkWhole' | 'completeNew'>;
  /** A host as versions are made of it. */
  withState: (host: StoredProxyHost) => object;
  record: RecordChange;
  clock: () => Date;
}

/** Changes of one host each, in a transaction of the caller; each throws a `Refusal`. `write` takes the entry. */
export const createSingle = ({ store, complete, withState, record, clock }: SingleDeps) => ({
  async create(
    tx: Executor,
    { fields, names = [] }: Normalised<NewProxyHost>,
    actor: Actor,
    known: KnownIdentity = {},
    write = record,
  ): Promise<StoredProxyHost> {
    const hosts = store(tx);
    const whole = await complete.completeNew(hosts, fields, actor);
    await checkNames(hosts, names, actor);
    const now = clock().toISOString();
    const identity = { uuid: randomUUID(), created_at: now, ...known };
    const after = await hosts.insert({ ...whole, ...identity, updated_at: now }, names);
    await write(tx, creationOf(after, actor));
    return after;
  },

  async update(
    tx: Executor,
    named: Identifier,
    { fields, names }: Normalised<ProxyHostPatch>,
    actor: Actor,
    checkVersion: CheckVersion,
    write = record,
  ): Promise<{ before: StoredProxyHost; after: StoredProxyHost }> {
    const hosts = store(tx);
    const before = await findOrRefuse(hosts, named);
    checkVersion(withState(before));
    const patch = await resolveReferences(hosts, fields);
    if (isStandardUser(actor)) checkPatch(before, patch, names);
    if (names) await checkNames(hosts, names, actor, before);
    const updated_at = clock().toISOString();
    const after = await hosts.update(before.id, { ...patch, updated_at }, names);
    complete.checkWhole(before, after);
    await write(tx, updateOf(before, after, actor));
    return { before, after };
  },

  async remove(
    tx: Executor,
    named: Identifier,
    actor: Actor,
    checkVersion: CheckVersion,
    write = record,
  ): Promise<StoredProxyHost> {
    const hosts = store(tx);
    const before = await findOrRefuse(hosts, named);
    checkVersion(withState(before));
    if (isStandardUser(actor)) checkDeletion(before);
    await hosts.delete(before.id);
    await write(tx, deletionOf(before, actor));
    return before;
  },
});
export type Single = ReturnType<typeof createSingle>;
