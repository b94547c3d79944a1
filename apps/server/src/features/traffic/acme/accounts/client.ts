import { type AcmeClient, createAcmeClient } from '@sallyport/acme';
import { acmeAccountContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { openAcmeTransport } from '../../../../net/acme-transport.ts';
import { openSecret } from '../../lost-secret.ts';
import type { StoredAccount } from './store.ts';

const USER_AGENT = 'Sallyport (ACME)';

/** What a client is made of. */
export interface ClientOf {
  directoryUrl: string;
  accountKeyPem: string;
  accountUrl?: string | undefined;
  caCertificate: string | null;
  signal: AbortSignal;
}

/** Runs `work` with a client of an authority, whose connections end with it. */
export const withClient = async <T>(
  { directoryUrl, accountKeyPem, accountUrl, caCertificate, signal }: ClientOf,
  clock: () => Date,
  work: (client: AcmeClient) => Promise<T>,
): Promise<T> => {
  const { transport, close } = await openAcmeTransport({ caCertificate });
  try {
    const client = createAcmeClient({
      directoryUrl,
      accountKey: accountKeyPem,
      ...(accountUrl === undefined ? {} : { accountUrl }),
      transport,
      signal,
      clock,
      userAgent: USER_AGENT,
    });
    return await work(client);
  } finally {
    await close();
  }
};

/** The key of a stored account. Throws a `SecretLost` when it was sealed with a key that is gone. */
export const accountKeyOf = ({ uuid, name, key_sealed }: StoredAccount, vault: Pick<Vault, 'open'>): string =>
  openSecret(
    () => vault.open(key_sealed, acmeAccountContext(uuid)),
    `The key of the ACME account ${name}`,
    'add another account and order with that',
  );

/** What a stored account's client is made of. Throws a `SecretLost`, as `accountKeyOf`. */
export const clientOf = (account: StoredAccount, vault: Pick<Vault, 'open'>, signal: AbortSignal): ClientOf => ({
  directoryUrl: account.directory_url,
  accountKeyPem: accountKeyOf(account, vault),
  accountUrl: account.account_url ?? undefined,
  caCertificate: account.ca_certificate,
  signal,
});
