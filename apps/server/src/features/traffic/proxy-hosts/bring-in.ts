import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { NewProxyHost, ProxyHostPatch } from '@sallyport/contract';
import { PROXY_HOST_PROTECTION } from '@sallyport/contract';
import type { Actor, ChangeEntry, RecordChange, RecordChanges } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { withSavepoint } from '@sallyport/store/database/savepoint';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { BroughtIn, Incoming } from '../../host-intake.ts';
import { isStandardUser } from './administrators-part.ts';
import type { createMany, Made, Replacement } from './many.ts';
import type { Normalised } from './normalise.ts';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';

/** The changes of single hosts, and of many, in a transaction of the caller; `write` takes the entries. */
export interface HostChanges {
  create(
    tx: Executor,
    host: Normalised<NewProxyHost>,
    actor: Actor,
    known: object,
    write: RecordChange,
  ): Promise<StoredProxyHost>;
  many: ReturnType<typeof createMany>;
  update(
    tx: Executor,
    uuid: string,
    patch: Normalised<ProxyHostPatch>,
    actor: Actor,
    write: RecordChange,
  ): Promise<StoredProxyHost>;
  remove(tx: Executor, uuid: string, actor: Actor, write: RecordChange): Promise<StoredProxyHost>;
}

export interface BringInDeps {
  store: (executor: Executor) => ProxyHostStore;
  normalise: (input: NewProxyHost) => Normalised<NewProxyHost>;
  changes: HostChanges;
  recordMany: RecordChanges;
}

/** Hosts that are gone through before others get their turn. */
const HOSTS_A_TURN = 100;

const protectionOf = (host: StoredProxyHost) => PROXY_HOST_PROTECTION.map((field) => host[field]);

/** The hosts that have these names, in the order of the names, each once. */
const ownersOf = (names: readonly string[], owners: ReadonlyMap<string, StoredProxyHost>): StoredProxyHost[] => {
  const found = new Map<number, StoredProxyHost>();
  for (const name of names) {
    const owner = owners.get(name);
    if (owner) found.set(owner.id, owner);
  }
  return [...found.values()];
};

const refusalOf = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  throw error;
};

/** A host from elsewhere with its place among those that come in. */
interface Newcomer {
  index: number;
  host: Normalised<NewProxyHost>;
  replaces: boolean;
}

/** What a newcomer makes different of the host whose place it takes; undefined when that is nothing. */
const patchOf = (
  base: StoredProxyHost,
  { fields, names }: Normalised<NewProxyHost>,
): Normalised<ProxyHostPatch> | undefined => {
  const differing = (Object.keys(fields) as (keyof NewProxyHost)[]).filter(
    (field) => fields[field] !== undefined && fields[field] !== base[field],
  );
  if (differing.length === 0) return undefined;
  const patch = Object.fromEntries(differing.map((field) => [field, fields[field]]));
  return { fields: patch, names: differing.includes('domain') ? names : undefined };
};

/** The names of a host without those. */
const restOf = ({ domain }: StoredProxyHost, names: readonly string[]): string[] =>
  domain.split(',').filter((name) => !names.includes(name));

/**
 * Takes many hosts in at once, with the checks of single ones. What one takes the place of keeps all that the newcomer says
 * nothing of, its protection above all.
 */
export const createBringIn = ({ store, normalise, changes, recordMany }: BringInDeps) => {
  /** Puts a host in the place of those that have its names. Throws a `Refusal`. */
  const replace = async (
    tx: Executor,
    { fields, names = [] }: Normalised<NewProxyHost>,
    actor: Actor,
    record: RecordChange,
  ): Promise<number[]> => {
    const hosts = store(tx);
    const [base, ...others] = ownersOf(names, await hosts.ownersByName(names));
    if (!base) return [(await changes.create(tx, { fields, names }, actor, {}, record)).id];
    const otherwise = others.find((host) => !isDeepStrictEqual(protectionOf(host), protectionOf(base)));
    if (otherwise) {
      const details = `proxy hosts ${base.uuid} and ${otherwise.uuid}`;
      throw refuse.conflict('Its names belong to proxy hosts that are protected differently', { details });
    }
    const ids: number[] = [];
    const shrink = async (host: StoredProxyHost, rest: readonly string[]) => {
      const patch: ProxyHostPatch = { domain: rest.join(',') };
      ids.push((await changes.update(tx, host.uuid, { fields: patch, names: [...rest] }, actor, record)).id);
    };
    for (const host of others) {
      const rest = restOf(host, names);
      if (rest.length > 0) await shrink(host, rest);
      else ids.push((await changes.remove(tx, host.uuid, actor, record)).id);
    }
    const rest = restOf(base, names);
    if (rest.length === 0) {
      const patch = patchOf(base, { fields, names });
      if (patch) ids.push((await changes.update(tx, base.uuid, patch, actor, record)).id);
      return ids;
    }
    await shrink(base, rest);
    const { id: _, uuid: __, created_at: ___, updated_at: ____, ...kept } = base;
    ids.push((await changes.create(tx, { fields: { ...kept, ...fields }, names }, actor, {}, record)).id);
    return ids;
  };

  /** Those among the newcomers that take the whole place of one host, which no other of them wants anything of. */
  const takingOne = async (tx: Executor, newcomers: readonly Newcomer[]): Promise<Map<number, Replacement | null>> => {
    const owners = await store(tx).ownersByName(newcomers.flatMap(({ host: { names = [] } }) => names));
    const wanted = new Map<string, number>();
    for (const { host } of newcomers) {
      const { names = [] } = host;
      const taken = ownersOf(names, owners).map(({ id }) => `host ${id}`);
      for (const one of [...names, ...taken]) wanted.set(one, (wanted.get(one) ?? 0) + 1);
    }
    const found = new Map<number, Replacement | null>();
    for (const { index, host } of newcomers) {
      const { names = [] } = host;
      const [base, ...others] = ownersOf(names, owners);
      if (!base || others.length > 0 || restOf(base, names).length > 0) continue;
      if ([...names, `host ${base.id}`].some((one) => wanted.get(one) !== 1)) continue;
      const patch = patchOf(base, host);
      found.set(index, patch ? { before: base, patch } : null);
    }
    return found;
  };

  return async (tx: Executor, incoming: readonly Incoming[], actor: Actor): Promise<BroughtIn[]> => {
    // Single ones are judged by who they take a name from; this is for those who may take any.
    if (isStandardUser(actor)) throw refuse.forbidden('Admin access required');
    const entries: ChangeEntry[] = [];
    const note: RecordChange = async (_tx, entry) => void entries.push(entry);
    const outcomes = new Map<number, BroughtIn>();
    const settle = (newcomers: readonly { index: number }[], made: readonly Made[]): void => {
      for (const [position, { index }] of newcomers.entries()) {
        const one = made[position];
        if (one) outcomes.set(index, 'refusal' in one ? one : { ids: [one.id] });
      }
    };
    const newcomers: Newcomer[] = [];
    for (const [index, { input, replaces }] of incoming.entries()) {
      if (index % HOSTS_A_TURN === HOSTS_A_TURN - 1) await yieldToOthers();
      try {
        newcomers.push({ index, host: normalise(input), replaces });
      } catch (error) {
        outcomes.set(index, { refusal: refusalOf(error) });
      }
    }
    const replacing = newcomers.filter(({ replaces }) => replaces);
    const simple = await takingOne(tx, replacing);
    for (const { index, host } of replacing) {
      if (simple.has(index)) continue;
      const noted = entries.length;
      try {
        outcomes.set(index, { ids: await withSavepoint(tx, () => replace(tx, host, actor, note)) });
      } catch (error) {
        entries.length = noted;
        outcomes.set(index, { refusal: refusalOf(error) });
      }
    }
    const replacements: (Replacement & { index: number })[] = [];
    for (const [index, replacement] of simple) {
      if (replacement) replacements.push({ index, ...replacement });
      else outcomes.set(index, { ids: [] });
    }
    settle(replacements, await changes.many.update(tx, replacements, actor, note));
    const fresh = newcomers.filter(({ replaces }) => !replaces);
    const hosts = fresh.map(({ host }) => host);
    settle(fresh, await changes.many.create(tx, hosts, actor, note));
    await recordMany(tx, entries);
    return incoming.map((_, index) => outcomes.get(index) as BroughtIn);
  };
};
