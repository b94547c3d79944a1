import { type NewProxyHost, PROXY_HOST_DEFAULTS, type ProxyHostPatch } from '@sallyport/contract';
import type { Actor, ChangeEntry, RecordChange, RecordChanges } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { type Refusal, refuse } from '@sallyport/store/errors';
import { IDENTITY, type KnownIdentity } from '../../object-reverter.ts';
import { fieldsOf, type OneOfMany, type Touched } from '../../reverter.ts';
import { isStandardUser } from './administrators-part.ts';
import type { createMany, Newcomer, Replacement } from './many.ts';
import type { Normalised } from './normalise.ts';
import type { ProxyHostStore, StoredProxyHost } from './store.ts';

/** What of a host can be given and changed. */
export const HOST_FIELDS = ['domain', 'forward_host', 'forward_port', ...Object.keys(PROXY_HOST_DEFAULTS)];

export interface UndoManyDeps {
  store: (executor: Executor) => ProxyHostStore;
  normalise: <Fields extends ProxyHostPatch>(input: Fields) => Normalised<Fields>;
  many: ReturnType<typeof createMany>;
  recordMany: RecordChanges;
}

/** What became of one: the host, or why its change can not be taken back. */
type Undone = Touched | { refusal: Refusal };

/** Why a host can not have its names back, by its key: somebody else has them by now, who does not give them away here. */
const takenNames = async (
  hosts: ProxyHostStore,
  renamed: readonly (Replacement & { key: string })[],
): Promise<Map<string, Refusal>> => {
  const wanted = renamed.flatMap(({ key, patch: { names = [] } }) => names.map((name) => ({ key, name })));
  const owners = await hosts.ownersByName(wanted.map(({ name }) => name));
  const giving = new Set(renamed.map(({ before }) => before.id));
  const first = new Map<string, string>();
  const refusals = new Map<string, Refusal>();
  for (const { key, name } of wanted) {
    const owner = owners.get(name);
    const other = owner && !giving.has(owner.id) ? owner.uuid : first.get(name);
    if (other === undefined) first.set(name, key);
    else refusals.set(key, refuse.conflict(`domain ${name} already belongs to proxy host ${other}`));
  }
  return refusals;
};

/**
 * Takes changes of many different hosts back together, in a transaction of the caller and by the checks of single ones: first those that came
 * go, then the others get back what was theirs, so that each name is free when it is wanted. When one of them is refused, the caller has to
 * roll all of them back.
 */
export const createUndoMany =
  ({ store, normalise, many, recordMany }: UndoManyDeps) =>
  async (tx: Executor, ones: readonly OneOfMany[]): Promise<ReadonlyMap<string, Undone> | undefined> => {
    const [first] = ones;
    // What a standard user may do is judged host by host.
    if (!first || isStandardUser(first.actor)) return undefined;
    const hosts = store(tx);
    const present = await hosts.findMany(ones.map(({ undoing }) => undoing.key));
    const actors = new Map<string, Actor>(ones.map(({ undoing, actor }) => [`proxy-hosts/${undoing.key}`, actor]));
    const entries: ChangeEntry[] = [];
    const note: RecordChange = async (_tx, entry) =>
      void entries.push({ ...entry, actor: actors.get(entry.resource) ?? entry.actor });
    const outcomes = new Map<string, Undone>();
    const settle = (keys: readonly string[], made: readonly ({ id: number } | { refusal: Refusal })[]): void => {
      for (const [index, key] of keys.entries()) {
        const one = made[index];
        if (one) outcomes.set(key, 'refusal' in one ? one : { key, id: one.id });
      }
    };

    const removed: StoredProxyHost[] = [];
    const updated: (Replacement & { key: string })[] = [];
    const restored: (Newcomer & { key: string })[] = [];
    for (const { undoing } of ones) {
      const { key } = undoing;
      const before = present.get(key);
      if (undoing.does === 'restore') {
        const known = fieldsOf<KnownIdentity>(undoing.state, IDENTITY);
        restored.push({ ...normalise(fieldsOf<NewProxyHost>(undoing.state, HOST_FIELDS)), known, key });
      } else if (!before) outcomes.set(key, { refusal: refuse.notFound('Proxy host not found') });
      else if (undoing.does === 'remove') removed.push(before);
      else updated.push({ key, before, patch: normalise(fieldsOf<ProxyHostPatch>(undoing.fields, HOST_FIELDS)) });
    }
    await many.remove(tx, removed, first.actor, note);
    settle(
      removed.map(({ uuid }) => uuid),
      removed,
    );
    const taken = await takenNames(
      hosts,
      updated.filter(({ patch }) => patch.names !== undefined),
    );
    for (const [key, refusal] of taken) outcomes.set(key, { refusal });
    // All of it is rolled back.
    if (taken.size > 0) return outcomes;
    settle(
      updated.map(({ key }) => key),
      await many.update(tx, updated, first.actor, note),
    );
    settle(
      restored.map(({ key }) => key),
      await many.create(tx, restored, first.actor, note),
    );
    await recordMany(tx, entries);
    return outcomes;
  };
