import { randomUUID } from 'node:crypto';
import type { NewProxyHost, ProxyHostFields, ProxyHostPatch } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Executor } from '@sallyport/store/database/open';
import { inPortions } from '@sallyport/store/database/portions';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { KnownIdentity } from '../../object-reverter.ts';
import { creationOf, deletionOf, updateOf } from './entries.ts';
import type { Normalised } from './normalise.ts';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';

/** Finds what a host refers to: see `ProxyHostStore.idOf`. */
export type References = Pick<ProxyHostStore, 'idOf'>;

/** A host that is to be made; one that comes back has its identity again. */
export type Newcomer = Normalised<NewProxyHost> & { known?: KnownIdentity };

/** What became of one of many. */
export type Made = { id: number } | { refusal: Refusal };

/** A host that is there, with what is to be different of it. */
export interface Replacement {
  before: StoredProxyHost;
  patch: Normalised<ProxyHostPatch>;
}

export interface ManyDeps {
  store: (executor: Executor) => ProxyHostStore;
  /** All fields of a new host. Throws a `Refusal`. */
  completeNew: (references: References, fields: NewProxyHost, actor: Actor) => Promise<ProxyHostFields>;
  /** All fields of a changed host. Throws a `Refusal`. */
  completePatch: (references: References, before: StoredProxyHost, fields: ProxyHostPatch) => Promise<StoredProxyHost>;
  clock: () => Date;
}

/** Asks for each reference once: thousands of hosts name the same few. */
const remembering = (hosts: References): References => {
  const known = new Map<string, Promise<number | undefined>>();
  return {
    idOf(table: Parameters<References['idOf']>[0], named: Identifier) {
      const key = `${table} ${typeof named} ${named}`;
      const asked = known.get(key) ?? hosts.idOf(table, named);
      known.set(key, asked);
      return asked;
    },
  };
};

/** What `work` made of each, or its refusal; others get their turn in between. */
const each = async <In, Out>(many: readonly In[], work: (one: In) => Promise<Out>) => {
  const results: (Out | { refusal: Refusal })[] = [];
  for await (const portion of inPortions(many)) {
    for (const one of portion) {
      try {
        results.push(await work(one));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        results.push({ refusal: error });
      }
    }
  }
  return results;
};

/** Changes of many hosts in a transaction of the caller: by the checks of single ones, in a few statements for all of them. */
export const createMany = ({ store, completeNew, completePatch, clock }: ManyDeps) => ({
  /** Adds many at once, as far as each can be; with the id of each, or why there is none. */
  async create(tx: Executor, many: readonly Newcomer[], actor: Actor, write: RecordChange): Promise<Made[]> {
    const hosts = store(tx);
    const references = remembering(hosts);
    const owners = await hosts.ownersByName(many.flatMap(({ names = [] }) => names));
    const taken = new Map([...owners].map(([name, { uuid }]) => [name, uuid]));
    const now = clock().toISOString();
    const rows: (Omit<StoredProxyHost, 'id'> & { id?: number; names: string[] })[] = [];
    const results = await each(many, async ({ fields, names = [], known = {} }) => {
      const complete = await completeNew(references, fields, actor);
      const name = names.find((one) => taken.has(one));
      if (name !== undefined) throw refuse.conflict(`domain ${name} already belongs to proxy host ${taken.get(name)}`);
      const identity = { uuid: randomUUID(), created_at: now, ...known };
      for (const one of names) taken.set(one, identity.uuid);
      rows.push({ ...complete, ...identity, updated_at: now, names });
      return { uuid: identity.uuid };
    });
    const made = await hosts.insertMany(rows);
    for (const after of made.values()) await write(tx, creationOf(after, actor));
    return results.map((one) => ('uuid' in one ? { id: (made.get(one.uuid) as StoredProxyHost).id } : one));
  },

  /** Changes many at once, none of them twice, whose names nobody else has or gets, as far as each can be. */
  async update(tx: Executor, many: readonly Replacement[], actor: Actor, write: RecordChange): Promise<Made[]> {
    const hosts = store(tx);
    const references = remembering(hosts);
    const updated_at = clock().toISOString();
    const changed: { before: StoredProxyHost; after: StoredProxyHost; names: string[] | undefined }[] = [];
    const results = await each(many, async ({ before, patch: { fields, names } }) => {
      const after = { ...(await completePatch(references, before, fields)), updated_at };
      changed.push({ before, after, names });
      return { id: before.id };
    });
    await hosts.updateAll(changed.map(({ after, names }) => ({ host: after, names })));
    for (const { before, after } of changed) await write(tx, updateOf(before, after, actor));
    return results;
  },

  /** Deletes many at once. */
  async remove(tx: Executor, many: readonly StoredProxyHost[], actor: Actor, write: RecordChange): Promise<void> {
    await store(tx).deleteAll(many.map(({ id }) => id));
    for (const before of many) await write(tx, deletionOf(before, actor));
  },
});
