import { randomUUID } from 'node:crypto';
import type {
  DnsProvider,
  DnsProviderInUse,
  DnsProviderPatch,
  DnsProviderTest,
  DnsProviderType,
  ListQuery,
  NewDnsProvider,
} from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import { type Executor, isUniqueViolation, type Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { parseDomainName } from '@sallyport/store/names/domain-name';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import { dnsProviderContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { KnownIdentity } from '../../object-reverter.ts';
import { openSecret } from '../lost-secret.ts';
import type { DnsProviderAccess } from './access.ts';
import { checkFields, knownType } from './check-fields.ts';
import { checkGivenAnew, type KeptSecrets, keptSecrets, secretsFor } from './destination.ts';
import type { DnsProviderStore, StoredDnsProvider } from './store.ts';
import { tryRecord } from './try-record.ts';
import type { ProviderTypes } from './types.ts';
import type { DnsRecordWriter } from './writer.ts';

/** How many certificates a refusal names. */
const MAX_TOLD = 5;

type Texts = Readonly<Record<string, string>>;

/** A DNS provider as the history keeps it. */
export interface KeptDnsProvider extends Omit<StoredDnsProvider, 'fields' | 'secrets_sealed'> {
  fields: Texts;
  /** Not there when they are sealed with a key that is lost. */
  secrets?: KeptSecrets;
}

/** What comes back of a deleted one, or of a change: secrets and all. */
export type RestoredDnsProvider = Pick<KeptDnsProvider, 'name' | 'type' | 'fields' | 'secrets'>;

export interface DnsProviderDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => DnsProviderStore;
  vault: Vault;
  types: ProviderTypes;
  writer: DnsRecordWriter;
  record: RecordChange;
  clock: () => Date;
}

const nameOf = (text: string): string => {
  const name = text.trim();
  if (name === '') throw refuse.invalid('name is required');
  return name;
};

const zoneOf = (text: string): string => {
  try {
    return parseDomainName(text.trim().replace(/\.$/, '')).replace(/^\*\./, '');
  } catch (error) {
    throw refuse.invalid(`zone ${(error as Error).message}`);
  }
};

export const createDnsProviders = (deps: DnsProviderDeps) => {
  const { db, transact, store, vault, types, writer, record, clock } = deps;
  const underTest = new Set<number>();

  const secretsOf = ({ uuid, name, secrets_sealed }: StoredDnsProvider): Texts => {
    if (secrets_sealed === null) return {};
    const open = () => vault.open(secrets_sealed, dnsProviderContext(uuid));
    return JSON.parse(openSecret(open, `The secrets of the DNS provider ${name}`, 'give them anew')) as Texts;
  };

  /** Undefined when they are sealed with a key that is lost, which must not keep them from being given anew. */
  const secretsIfOpen = (stored: StoredDnsProvider): Texts | undefined => {
    try {
      return secretsOf(stored);
    } catch {
      return undefined;
    }
  };

  const sealed = (uuid: string, { fields, secrets }: DnsProviderAccess) => ({
    fields: JSON.stringify(fields),
    secrets_sealed:
      Object.keys(secrets).length === 0 ? null : vault.seal(JSON.stringify(secrets), dnsProviderContext(uuid)),
  });

  const toWire = (stored: StoredDnsProvider): DnsProvider => {
    const { secrets_sealed: _sealed, fields, ...rest } = stored;
    const secrets_set = Object.keys(secretsIfOpen(stored) ?? {}).sort();
    return { ...rest, fields: JSON.parse(fields) as Texts, secrets_set };
  };

  const kept = (stored: StoredDnsProvider): KeptDnsProvider => {
    const { secrets_sealed: _sealed, fields: text, ...rest } = stored;
    const fields = JSON.parse(text) as Texts;
    const secrets = secretsIfOpen(stored);
    return { ...rest, fields, ...(secrets && { secrets: keptSecrets({ type: rest.type, fields, secrets }) }) };
  };

  const comingBack = ({ type, fields, secrets }: RestoredDnsProvider): DnsProviderAccess => ({
    type,
    fields,
    secrets: secrets ? secretsFor({ type, fields }, secrets) : {},
  });

  const findIn = async (executor: Executor, named: Identifier): Promise<StoredDnsProvider> => {
    const stored = await store(executor).find(named);
    if (!stored) throw refuse.notFound('DNS provider not found');
    return stored;
  };

  const note = (
    tx: Executor,
    action: string,
    actor: Actor,
    { uuid }: StoredDnsProvider,
    { before, after }: { before?: StoredDnsProvider; after?: StoredDnsProvider },
  ): Promise<void> => {
    const resource = `dns-providers/${uuid}`;
    return record(tx, {
      action,
      actor,
      resource,
      before: before && toWire(before),
      after: after && toWire(after),
      history: [{ resource, before: before && kept(before), after: after && kept(after), secret: ['secrets'] }],
    });
  };

  /** Throws a 409 in place of what the database says of a name that another one has. */
  const refuseTaken =
    (name: string) =>
    (error: unknown): never => {
      throw isUniqueViolation(error)
        ? refuse.conflict(`name ${JSON.stringify(name)} is that of another DNS provider`)
        : error;
    };

  const createIn = async (
    tx: Executor,
    name: string,
    access: DnsProviderAccess,
    actor: Actor,
    known: KnownIdentity = {},
  ): Promise<StoredDnsProvider> => {
    const now = clock().toISOString();
    const uuid = known.uuid ?? randomUUID();
    const made = { created_at: now, ...known, uuid, name, type: access.type, ...sealed(uuid, access), updated_at: now };
    const after = await store(tx).insert(made).catch(refuseTaken(name));
    await note(tx, 'dns_provider.create', actor, after, { after });
    return after;
  };

  const updateIn = async (
    tx: Executor,
    before: StoredDnsProvider,
    name: string,
    access: DnsProviderAccess | undefined,
    actor: Actor,
  ): Promise<StoredDnsProvider> => {
    const written = access && { type: access.type, ...sealed(before.uuid, access) };
    const updated_at = clock().toISOString();
    const after = await store(tx)
      .update(before.id, { name, ...written, updated_at })
      .catch(refuseTaken(name));
    await note(tx, 'dns_provider.update', actor, before, { before, after });
    return after;
  };

  const deleteIn = async (
    tx: Executor,
    named: Identifier,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<StoredDnsProvider> => {
    const before = await findIn(tx, named);
    checkVersion(toWire(before));
    const { used_by, used_by_total } = await store(tx).uses(before.id);
    if (used_by_total > 0) {
      const told = used_by.slice(0, MAX_TOLD).map(({ name, uuid }) => `${name} (${uuid})`);
      const rest = used_by_total - told.length;
      const details = `used by ${told.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
      throw refuse.conflict('DNS provider is in use by one or more certificates', { details });
    }
    await store(tx).delete(before.id);
    await note(tx, 'dns_provider.delete', actor, before, { before });
    return before;
  };

  /** What a change makes of it; undefined when that is nothing but its name, which goes whatever became of lego, or of the key. */
  const changed = async (
    stored: StoredDnsProvider,
    { type = stored.type, fields }: DnsProviderPatch,
  ): Promise<DnsProviderAccess | undefined> => {
    const isSame = type === stored.type;
    if (isSame && fields === undefined) return undefined;
    const secrets = (isSame ? secretsIfOpen(stored) : undefined) ?? {};
    const access = checkFields(await knownType(types, type), fields ?? {}, secrets);
    checkGivenAnew({ type, fields: JSON.parse(stored.fields) as Texts, secrets }, fields ?? {}, access);
    return access;
  };

  const accessOf = (stored: StoredDnsProvider): DnsProviderAccess => ({
    type: stored.type,
    fields: JSON.parse(stored.fields) as Texts,
    secrets: secretsOf(stored),
  });

  return {
    /** The same changes in a transaction of the caller, with what the history has kept. */
    within: {
      kept: async (tx: Executor, key: string): Promise<KeptDnsProvider | undefined> => {
        const stored = await store(tx).find(key);
        return stored && kept(stored);
      },
      create: async (tx: Executor, restored: RestoredDnsProvider, actor: Actor, known: KnownIdentity) =>
        createIn(tx, restored.name, comingBack(restored), actor, known),
      async update(tx: Executor, named: Identifier, patch: Partial<RestoredDnsProvider>, actor: Actor) {
        const before = await findIn(tx, named);
        const restored = { ...kept(before), ...patch };
        const isMore = Object.keys(patch).some((field) => field !== 'name');
        return updateIn(tx, before, restored.name, isMore ? comingBack(restored) : undefined, actor);
      },
      remove: (tx: Executor, named: Identifier, actor: Actor) => deleteIn(tx, named, actor, anyVersion),
    },

    /** Every type that there is here, by name. */
    async types(query: ListQuery): Promise<Page<DnsProviderType>> {
      const all = (await types.all()).map(({ type, name, fields }) => ({ type, name, fields: [...fields] }));
      return pageOfRows(all, query, { sortable: ['type', 'name'], searchable: ['type', 'name'] });
    },

    async list(query: ListQuery): Promise<Page<DnsProvider>> {
      const page = await store(db).list(query);
      return { ...page, rows: page.rows.map(toWire) };
    },

    async get(named: Identifier): Promise<DnsProviderInUse> {
      const stored = await findIn(db, named);
      return { ...toWire(stored), ...(await store(db).uses(stored.id)) };
    },

    /** What records are written with, secrets opened: for the service itself, never for an answer. Throws a 404. */
    access: async (named: Identifier): Promise<DnsProviderAccess> => accessOf(await findIn(db, named)),

    /** Throws a 400 that names the field, a 409 for a name that another one has. */
    async create({ name, type, fields = {} }: NewDnsProvider, actor: Actor): Promise<DnsProvider> {
      const access = checkFields(await knownType(types, type), fields);
      return toWire(await transact((tx) => createIn(tx, nameOf(name), access, actor)));
    },

    /** Changes what is given; secrets that are left out stay, see `checkGivenAnew`. Throws like `create`, and a 412, see `checkVersion`. */
    async update(
      named: Identifier,
      patch: DnsProviderPatch,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<DnsProvider> {
      const name = patch.name === undefined ? undefined : nameOf(patch.name);
      // Asking a lego takes longer than a transaction should.
      await changed(await findIn(db, named), patch);
      const after = await transact(async (tx) => {
        const before = await findIn(tx, named);
        checkVersion(toWire(before));
        return updateIn(tx, before, name ?? before.name, await changed(before, patch), actor);
      });
      return toWire(after);
    },

    async remove(named: Identifier, actor: Actor, checkVersion = anyVersion): Promise<void> {
      await transact((tx) => deleteIn(tx, named, actor, checkVersion));
    },

    /** Sets the record of a made-up challenge for a name and takes it away. Resolves with what came of it, in words. */
    async tryFor(id: number, name: string): Promise<{ ok: boolean; message: string }> {
      const stored = await findIn(db, id);
      return tryRecord(writer, () => accessOf(stored), name);
    },

    /** Sets a record and takes it away again. Throws a 409 while it is at it already. */
    async test(named: Identifier, zone: string, actor: Actor): Promise<DnsProviderTest> {
      const domain = zoneOf(zone);
      const stored = await findIn(db, named);
      if (underTest.has(stored.id)) throw refuse.conflict('This DNS provider is being tested already');
      underTest.add(stored.id);
      const startedAt = performance.now();
      try {
        const { ok, message } = await tryRecord(writer, () => accessOf(stored), domain);
        await transact((tx) =>
          record(tx, {
            action: 'dns_provider.test',
            actor,
            resource: `dns-providers/${stored.uuid}`,
            after: { zone: domain, ok, message },
          }),
        );
        const duration_ms = Math.round(performance.now() - startedAt);
        return { ok, message, record: `_acme-challenge.${domain}`, duration_ms };
      } finally {
        underTest.delete(stored.id);
      }
    },
  };
};
export type DnsProviders = ReturnType<typeof createDnsProviders>;
