import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type CountryLookup,
  compileAccessList,
  formatNetwork,
  InvalidNetwork,
  isCountry,
  parseNetwork,
} from '@sallyport/access';
import {
  ACCESS_LIST_DEFAULTS,
  type AccessDraftResult,
  type AccessDraftTest,
  type AccessList,
  type AccessListFields,
  type AccessListInUse,
  type AccessListPatch,
  type AccessTestResult,
  type ListQuery,
  type NewAccessList,
} from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import { refuseInUse } from '@sallyport/store/database/host-uses';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { Refusal, refuse } from '@sallyport/store/errors';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import type { KnownIdentity } from '../../object-reverter.ts';
import type { AccessListStore, StoredAccessList } from './store.ts';
import { warningsOf } from './warnings.ts';

export interface AccessListDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => AccessListStore;
  /** Undefined while no country database is installed. */
  country: CountryLookup | undefined;
  /** Which modules act at the moment. */
  inForce: () => { guard: boolean; acl: boolean };
  /** Resolves when enforcement has followed the store, or when it is known why it couldn't. */
  changed: () => Promise<void>;
  record: RecordChange;
  clock: () => Date;
}

const canonical = (text: string, field: string): string => {
  try {
    return formatNetwork(parseNetwork(text));
  } catch (error) {
    if (error instanceof InvalidNetwork) throw refuse.invalid(`${field} ${error.message}`);
    throw error;
  }
};

const addressOf = (ip: string): string => {
  const address = canonical(ip, 'ip');
  if (address.includes('/')) throw refuse.invalid('ip must be an IP address, not a range');
  return address;
};

const normalise = <T extends AccessListPatch>(input: T): T => {
  const fields = { ...input };
  if (input.name !== undefined) {
    fields.name = input.name.trim();
    if (fields.name === '') throw refuse.invalid('name is required');
  }
  if (input.rules) {
    fields.rules = input.rules.map(({ cidr, description = '' }, index) => ({
      cidr: canonical(cidr, `rules[${index}].cidr`),
      description,
    }));
  }
  if (input.countries) {
    fields.countries = [...new Set(input.countries.map((code) => code.toUpperCase()))];
    const wrong = fields.countries.find((code) => !isCountry(code));
    // A code that no country has would look like protection, or shut out more than was meant.
    if (wrong !== undefined) throw refuse.invalid(`countries has ${wrong}, which is no ISO 3166-1 alpha-2 code`);
  }
  return fields;
};

const checkWhole = ({ type, countries, rules }: AccessListFields): void => {
  const isGeo = type === 'geo_allow' || type === 'geo_deny';
  // Countries that have no effect look like protection.
  if (!isGeo && countries.length > 0) throw refuse.invalid('countries can only be given for geo_allow and geo_deny');
  if (type === 'geo_allow' && countries.length + rules.length === 0) {
    throw refuse.invalid('countries is required for geo_allow: without a country or a rule nobody would be admitted');
  }
};

/** What decides who comes in. */
const judgedBy = ({ type, rules, countries, local_network_only, enabled }: AccessListFields) => ({
  type,
  networks: rules.map(({ cidr }) => cidr).sort(),
  countries: [...countries].sort(),
  local_network_only,
  enabled,
});

const notFound = () => refuse.notFound('Access list not found');

export const createAccessLists = (deps: AccessListDeps) => {
  const { db, transact, store, country, inForce, changed, record, clock } = deps;

  const toWire = async (lists: readonly StoredAccessList[]): Promise<AccessList[]> => {
    const used = await store(db).used(lists.map(({ id }) => id));
    const around = { switches: inForce(), hasCountries: country !== undefined };
    return lists.map((list) => ({ ...list, warnings: warningsOf(list, { ...around, isUsed: used.has(list.id) }) }));
  };

  const oneToWire = async (list: StoredAccessList): Promise<AccessList> => (await toWire([list]))[0] as AccessList;

  const findIn = async (executor: Executor, named: Identifier): Promise<StoredAccessList> => {
    const list = await store(executor).find(named);
    if (!list) throw notFound();
    return list;
  };

  const checkName = async (tx: Executor, name: string, exceptId: number): Promise<void> => {
    if (await store(tx).isNameTaken(name, exceptId))
      throw refuse.conflict(`name "${name}" belongs to another access list`);
  };

  const note = (
    tx: Executor,
    action: string,
    actor: Actor,
    { id, uuid }: StoredAccessList,
    change: { before?: StoredAccessList; after?: StoredAccessList },
  ): Promise<void> => {
    const history = [{ resource: `access-lists/${uuid}`, ...change }];
    return record(tx, { action, actor, resource: `access-lists/${id}`, ...change, history });
  };

  const createIn = async (
    tx: Executor,
    fields: AccessListFields,
    actor: Actor,
    known: KnownIdentity = {},
  ): Promise<StoredAccessList> => {
    await checkName(tx, fields.name, 0);
    const now = clock().toISOString();
    const after = await store(tx).insert({ ...fields, uuid: randomUUID(), created_at: now, updated_at: now, ...known });
    await note(tx, 'access_list.create', actor, after, { after });
    return after;
  };

  const updateIn = async (
    tx: Executor,
    named: Identifier,
    fields: AccessListPatch,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<StoredAccessList> => {
    const before = await findIn(tx, named);
    checkVersion(before);
    const { id } = before;
    const whole = { ...before, ...fields, updated_at: clock().toISOString() } as StoredAccessList;
    checkWhole(whole);
    await checkName(tx, whole.name, id);
    const after = await store(tx).update(id, whole);
    await note(tx, 'access_list.update', actor, before, { before, after });
    return after;
  };

  const deleteIn = async (
    tx: Executor,
    named: Identifier,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<StoredAccessList> => {
    const before = await findIn(tx, named);
    checkVersion(before);
    const { id } = before;
    refuseInUse('access list', await store(tx).uses(id));
    await store(tx).delete(id);
    await note(tx, 'access_list.delete', actor, before, { before });
    return before;
  };

  const complete = (input: NewAccessList): AccessListFields => {
    const fields = { ...ACCESS_LIST_DEFAULTS, rules: [], countries: [], ...normalise(input) };
    checkWhole(fields);
    return fields;
  };

  const freeName = async (tx: Executor, name: string): Promise<string> => {
    let free = `${name} (imported)`;
    for (let count = 2; await store(tx).isNameTaken(free, 0); count += 1) free = `${name} (imported ${count})`;
    return free;
  };

  /** The id of a list with what this one says, made when there is none of its name that says the same. Throws a `Refusal`. */
  const bringInOne = async (tx: Executor, input: NewAccessList, actor: Actor): Promise<number> => {
    const fields = complete(input);
    const present = await store(tx).findByName(fields.name);
    if (!present) return (await createIn(tx, fields, actor)).id;
    if (isDeepStrictEqual(judgedBy(present), judgedBy(fields))) return present.id;
    return (await createIn(tx, { ...fields, name: await freeName(tx, fields.name) }, actor)).id;
  };

  return {
    /** Whether it would keep out whom it is to keep out: the module acts, and there is what it asks. */
    isJudged: ({ type }: Pick<NewAccessList, 'type'>): boolean =>
      inForce().acl && (country !== undefined || !type.startsWith('geo_')),

    /** The same changes in a transaction of the caller, after which enforcement has to follow. */
    within: {
      /** See `HostIntake.bringInLists`. */
      async bringIn(
        tx: Executor,
        lists: readonly NewAccessList[],
        actor: Actor,
      ): Promise<Map<string, number | Refusal>> {
        const ids = new Map<string, number | Refusal>();
        for (const list of lists) {
          const found = await bringInOne(tx, list, actor).catch((error: unknown) => {
            if (error instanceof Refusal) return error;
            throw error;
          });
          ids.set(list.name, found);
        }
        return ids;
      },
      create: (tx: Executor, input: NewAccessList, actor: Actor, known: KnownIdentity) =>
        createIn(tx, complete(input), actor, known),
      update: (tx: Executor, named: Identifier, patch: AccessListPatch, actor: Actor) =>
        updateIn(tx, named, normalise(patch), actor, anyVersion),
      remove: (tx: Executor, named: Identifier, actor: Actor) => deleteIn(tx, named, actor, anyVersion),
    },

    async list(query: ListQuery): Promise<Page<AccessList>> {
      const page = await store(db).list(query);
      return { ...page, rows: await toWire(page.rows) };
    },

    async get(named: Identifier): Promise<AccessListInUse> {
      const list = await findIn(db, named);
      return { ...(await oneToWire(list)), ...(await store(db).uses(list.id)) };
    },

    async create(input: NewAccessList, actor: Actor): Promise<AccessList> {
      const fields = complete(input);
      const list = await transact((tx) => createIn(tx, fields, actor));
      await changed();
      return oneToWire(list);
    },

    /** Changes what is given. Throws a 412, see `checkVersion`. */
    async update(
      named: Identifier,
      patch: AccessListPatch,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<AccessList> {
      const fields = normalise(patch);
      const list = await transact((tx) => updateIn(tx, named, fields, actor, checkVersion));
      await changed();
      return oneToWire(list);
    },

    async remove(named: Identifier, actor: Actor, checkVersion = anyVersion): Promise<void> {
      await transact((tx) => deleteIn(tx, named, actor, checkVersion));
      await changed();
    },

    /** Tells what a list decides about an address, as the guards would. */
    async test(named: Identifier, ip: string): Promise<AccessTestResult> {
      return compileAccessList(await findIn(db, named), country)(addressOf(ip));
    },

    /** The same of a list that nobody has stored. Throws a 400 as when it were to be stored. */
    testDraft(draft: Omit<AccessDraftTest, 'ip'>, ip: string): AccessDraftResult {
      const { type, ...given } = complete({ name: 'draft', ...draft });
      const address = addressOf(ip);
      return { ip: address, ...compileAccessList({ type, ...given }, country)(address) };
    },
  };
};
export type AccessLists = ReturnType<typeof createAccessLists>;
