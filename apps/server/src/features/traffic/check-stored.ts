import { isIP } from 'node:net';
import { Certificate, ProxyHost, RemoteServer } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { parseOriginHost } from '@sallyport/store/names/domain-name';
import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { type Row, readTables } from '@sallyport/store/snapshot/read-tables';
import { normaliseSetup } from '../../dataplane/protection/waf-setup.ts';
import { checkEach, checkWritten, createRowCheck } from '../check-row.ts';
import { checkLedger, createAccountCheck, createOrderCheck, createRevokedCheck } from './acme/check-stored.ts';
import { isAddress } from './certificates/names.ts';
import { parseStoredPair } from './certificates/pem.ts';
import { createDnsProviderCheck } from './dns-providers/check-stored.ts';
import { checkStoredAuthority } from './internal-ca/check-stored.ts';
import { parseDomains } from './proxy-hosts/domains.ts';

const checkHost = (host: ProxyHost, owners: Map<string, number>): void => {
  const { domain, forward_host, waf_allowed_methods, waf_allowed_content_types } = host;
  const names = parseDomains(domain);
  checkWritten('domain', domain, names.join(','));
  for (const name of names) {
    if (owners.get(name) !== host.id) throw new Error(`the name ${name} is not its own`);
    owners.delete(name);
  }
  checkWritten('forward_host', forward_host, parseOriginHost(forward_host));
  const setup = normaliseSetup({ waf_allowed_methods, waf_allowed_content_types });
  checkWritten('waf_allowed_methods', waf_allowed_methods, setup.waf_allowed_methods);
  checkWritten('waf_allowed_content_types', waf_allowed_content_types, setup.waf_allowed_content_types);
};

const checkCertificate = (row: Row, vault: Pick<Vault, 'open'>): void => {
  const key = vault.open(String(row.key_sealed), certificateKeyContext(String(row.uuid)));
  const { chainPem, names, notBefore, notAfter } = parseStoredPair(String(row.chain_pem), key);
  checkWritten('chain_pem', row.chain_pem, chainPem);
  // Addresses were left out once.
  const withoutAddresses = names.filter((name) => !isAddress(name)).join(',');
  if (row.domains !== withoutAddresses) checkWritten('domains', row.domains, names.join(','));
  checkWritten('not_before', row.not_before, notBefore.toISOString());
  checkWritten('expires_at', row.expires_at, notAfter.toISOString());
  if (row.is_placeholder !== 0 && row.is_placeholder !== 1) throw new Error('is_placeholder is neither 0 nor 1');
};

/**
 * Looks whether hosts, names, servers, certificates and what these are had with are such that they could have been made here, before it comes
 * into use. Throws a `Refusal` (400) that names the first that is not.
 */
export const checkStoredTraffic = async (db: Executor, vault: Pick<Vault, 'open'>): Promise<void> => {
  const isHost = createRowCheck(ProxyHost);
  const isServer = createRowCheck(RemoteServer);
  const isCertificate = createRowCheck(Certificate);
  const owners = new Map<string, number>();
  for await (const { rows } of readTables(db, ['proxy_host_names'])) {
    for (const row of rows) owners.set(String(row.name), Number(row.proxy_host_id));
  }
  await checkEach(
    db,
    'proxy_hosts',
    ({ domain }) => `proxy host ${domain}`,
    async (row) => checkHost((await isHost(row)) as unknown as ProxyHost, owners),
  );
  for (const name of owners.keys())
    throw refuse.invalid(`the name ${name} belongs to a proxy host that does not have it`);
  await checkEach(
    db,
    'remote_servers',
    ({ name }) => `remote server ${name}`,
    async (row) => {
      await isServer(row);
      checkWritten('host', row.host, parseOriginHost(String(row.host)));
    },
  );
  await checkEach(
    db,
    'certificates',
    ({ name }) => `certificate ${name}`,
    async (row) => {
      await isCertificate(row);
      checkCertificate(row, vault);
    },
  );
  const checkProvider = createDnsProviderCheck();
  await checkEach(
    db,
    'dns_providers',
    ({ name }) => `DNS provider ${name}`,
    (row) => checkProvider(row, vault),
  );
  const checkAccount = createAccountCheck();
  await checkEach(
    db,
    'acme_accounts',
    ({ name }) => `ACME account ${name}`,
    (row) => checkAccount(row, vault),
  );
  await checkEach(
    db,
    'internal_ca',
    () => 'the internal authority',
    (row) => checkStoredAuthority(row, vault),
  );
  await checkEach(db, 'certificate_orders', ({ names }) => `the order of ${names}`, createOrderCheck());
  await checkEach(db, 'order_ledger', ({ names }) => `what was ordered for ${names}`, checkLedger);
  await checkEach(
    db,
    'revoked_certificates',
    ({ fingerprint }) => `the revoked certificate ${fingerprint}`,
    createRevokedCheck(),
  );
  for await (const { rows } of readTables(db, ['origin_addresses'])) {
    for (const { name, address } of rows) {
      if (isIP(String(address)) === 0) throw refuse.invalid(`the address of ${name} is none`);
    }
  }
};
