import { randomUUID } from 'node:crypto';
import { type AcmeClient, makeCertificateKey } from '@sallyport/acme';
import type {
  AcmeAccount,
  AcmeAccountInUse,
  AcmeAccountPatch,
  CertificateUses,
  ListQuery,
  NewAcmeAccount,
} from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { anyVersion } from '@sallyport/store/object-version';
import { acmeAccountContext, eabContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import { clientOf, withClient } from './client.ts';
import { directoryUrlOf } from './directories.ts';
import { type AccountRequest, normaliseAccount, parseAccountName, parseRoots } from './normalise.ts';
import { refusalOfRegistration } from './refusals.ts';
import type { AccountStore, StoredAccount } from './store.ts';

export interface AccountDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => AccountStore;
  vault: Vault;
  record: RecordChange;
  /** To be told that there is an account more. */
  added: () => void;
  clock: () => Date;
  log: Logger;
}

/** How long a caller waits for an authority. */
const REGISTER_MS = 30_000;
const DEACTIVATE_MS = 10_000;
/** How many users a refusal names. */
const MAX_TOLD = 5;

const toWire = (account: StoredAccount): AcmeAccount => {
  const { key_sealed: _, eab_hmac_sealed: __, account_url, terms_agreed, ...rest } = account;
  return { ...rest, terms_agreed: terms_agreed === 1, registered: account_url !== null };
};

const refuseUsed = ({ used_by, used_by_total }: CertificateUses): void => {
  if (used_by_total === 0) return;
  const told = used_by.slice(0, MAX_TOLD).map(({ name, uuid }) => `${name} (${uuid})`);
  const rest = used_by_total - told.length;
  const details = `used by ${told.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  throw refuse.conflict('account is in use by one or more certificates', { details });
};

const taken = (name: string) => refuse.conflict(`name ${name} belongs to another account`);

/** Accounts with certificate authorities. */
export const createAccounts = (deps: AccountDeps) => {
  const { db, transactAside, store, vault, record, added, clock, log } = deps;

  const findIn = async (executor: Executor, named: Identifier): Promise<StoredAccount> => {
    const account = await store(executor).find(named);
    if (!account) throw refuse.notFound('ACME account not found');
    return account;
  };

  const note = (
    tx: Executor,
    action: string,
    actor: Actor,
    uuid: string,
    change: { before?: AcmeAccount; after?: AcmeAccount },
  ) => record(tx, { action, actor, resource: `acme/accounts/${uuid}`, ...change });

  /** Throws a 400 for terms that are not agreed to, and for a binding that is missing. */
  const checkDirectory = async (client: AcmeClient, { isAgreed, eab }: AccountRequest): Promise<void> => {
    const { termsOfService, externalAccountRequired } = await client.directory();
    if (!isAgreed) {
      const where = termsOfService === undefined ? 'it does not say where they are' : `see ${termsOfService}`;
      throw refuse.invalid(`terms_agreed must be true: the authority has terms of service to agree to; ${where}`);
    }
    if (externalAccountRequired && eab === undefined) {
      throw refuse.invalid(
        'eab_kid is required: the authority binds accounts to one that you have with it; it gives eab_kid and eab_hmac_key there',
      );
    }
  };

  const register = async (request: AccountRequest, accountKeyPem: string): Promise<string> => {
    const { directoryUrl, caCertificate, email, isAgreed, eab } = request;
    const signal = AbortSignal.timeout(REGISTER_MS);
    try {
      return await withClient({ directoryUrl, accountKeyPem, caCertificate, signal }, clock, async (client) => {
        await checkDirectory(client, request);
        const { accountUrl } = await client.register({ email, termsAgreed: isAgreed, ...(eab ? { eab } : {}) });
        return accountUrl;
      });
    } catch (error) {
      throw refusalOfRegistration(error, eab !== undefined) ?? error;
    }
  };

  return {
    async list(query: ListQuery): Promise<Page<AcmeAccount>> {
      const page = await store(db).page(query);
      return { ...page, rows: page.rows.map(toWire) };
    },

    async get(named: Identifier): Promise<AcmeAccountInUse> {
      const account = await findIn(db, named);
      return { ...toWire(account), ...(await store(db).uses(account.id)) };
    },

    /** Registers an account with its authority, and stores it. Throws a 400 that names the field and has the authority's words. */
    async create(input: NewAcmeAccount, actor: Actor): Promise<AcmeAccount> {
      const request = normaliseAccount(input);
      const { name, directoryUrl, email, eab, caCertificate } = request;
      if (await store(db).findByName(name)) throw taken(name);
      const accountKeyPem = await makeCertificateKey('p256');
      const account_url = await register(request, accountKeyPem);
      const uuid = randomUUID();
      const now = clock().toISOString();
      const account = await transactAside(async (tx) => {
        if (await store(tx).findByName(name)) throw taken(name);
        const stored = await store(tx).insert({
          uuid,
          name,
          directory_url: directoryUrl,
          email,
          terms_agreed: 1,
          key_sealed: vault.seal(accountKeyPem, acmeAccountContext(uuid)),
          account_url,
          eab_kid: eab?.kid ?? null,
          eab_hmac_sealed: eab ? vault.seal(eab.hmacKey, eabContext(uuid)) : null,
          ca_certificate: caCertificate,
          created_at: now,
          updated_at: now,
        });
        const after = toWire(stored);
        await note(tx, 'acme_account.create', actor, uuid, { after });
        return after;
      });
      added();
      return account;
    },

    /** Changes what only we know of it: its name, and the roots that its authority is verified with. */
    async update(
      named: Identifier,
      patch: AcmeAccountPatch,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<AcmeAccount> {
      const name = patch.name === undefined ? undefined : parseAccountName(patch.name);
      const roots = patch.ca_certificate ? parseRoots(patch.ca_certificate) : patch.ca_certificate;
      return transactAside(async (tx) => {
        const stored = await findIn(tx, named);
        const before = toWire(stored);
        checkVersion(before);
        const given = {
          ...patch,
          ...(patch.directory_url === undefined ? {} : { directory_url: urlOrText(patch.directory_url) }),
        };
        for (const field of ['directory_url', 'email', 'terms_agreed', 'eab_kid'] as const) {
          if (given[field] === undefined || given[field] === before[field]) continue;
          throw refuse.invalid(`${field} is what the authority registered: add another account for another one`);
        }
        if (name !== undefined && name !== before.name && (await store(tx).findByName(name))) throw taken(name);
        const after = toWire(
          await store(tx).update(stored.id, {
            ...(name === undefined ? {} : { name }),
            ...(roots === undefined ? {} : { ca_certificate: roots }),
            updated_at: clock().toISOString(),
          }),
        );
        await note(tx, 'acme_account.update', actor, stored.uuid, { before, after });
        return after;
      });
    },

    /** Deletes an account that no certificate is kept with, and has its authority forget it if it can be reached. */
    async remove(named: Identifier, actor: Actor, checkVersion = anyVersion): Promise<void> {
      const account = await transactAside(async (tx) => {
        const stored = await findIn(tx, named);
        checkVersion(toWire(stored));
        refuseUsed(await store(tx).uses(stored.id));
        await store(tx).delete(stored.id);
        await note(tx, 'acme_account.delete', actor, stored.uuid, { before: toWire(stored) });
        return stored;
      });
      try {
        const options = clientOf(account, vault, AbortSignal.timeout(DEACTIVATE_MS));
        await withClient(options, clock, (client) => client.deactivateAccount());
      } catch (err) {
        log.warn(
          { err, account: account.name },
          'the authority could not be told that an account is not used any more',
        );
      }
    },

    /**
     * The account that a caller names, or the one that is meant when none is named: that of the name `fallback`, or, when that is empty,
     * the only one. Throws a 400 that names the field.
     */
    async resolve(
      executor: Executor,
      named: Identifier | null | undefined,
      fallback: string,
      field = 'account_id',
    ): Promise<StoredAccount> {
      if (named !== undefined && named !== null) {
        const account = await store(executor).find(typeof named === 'string' ? named.toLowerCase() : named);
        if (!account) throw refuse.invalid(`${field} names no ACME account`);
        return account;
      }
      const account = fallback === '' ? await store(executor).only() : await store(executor).findByName(fallback);
      if (account) return account;
      if (fallback !== '')
        throw refuse.invalid(`${field} is required: the setting acme.account names no account: ${fallback}`);
      const names = await store(executor).names();
      throw refuse.invalid(
        names.length === 0
          ? `${field}: there is no ACME account yet: add one by POST /api/v1/acme/accounts`
          : `${field} is required: there are several accounts (${names.join(', ')}), and the setting acme.account names none`,
      );
    },
  };
};
export type Accounts = ReturnType<typeof createAccounts>;

/** For comparing with what is stored: a shorthand means its URL. */
const urlOrText = (given: string): string => {
  try {
    return directoryUrlOf(given);
  } catch {
    return given;
  }
};
