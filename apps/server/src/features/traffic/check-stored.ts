import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { parseOriginHost } from '@sallyport/store/names/domain-name';
import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import { type Row, readTables } from '@sallyport/store/snapshot/read-tables';
import { parseCertificatePair } from './certificates/pem.ts';
import { parseDomains } from './proxy-hosts/domains.ts';

const LARGEST_PORT = 65_535;

const isPort = (value: unknown): boolean => Number(value) >= 1 && Number(value) <= LARGEST_PORT;

/** Says what is wrong in words that name the object. */
const about = async (what: string, look: () => void | Promise<void>): Promise<void> => {
  try {
    await look();
  } catch (error) {
    throw refuse.invalid(`${what}: ${(error as Error).message}`);
  }
};

/** Flags of a host: all other whole numbers of the row mean something else. */
const NUMBERS = new Set([
  'id',
  'forward_port',
  'waf_body_limit',
  'remote_server_id',
  'certificate_id',
  'access_list_id',
]);

const checkHost = (row: Row, owners: Map<string, number>): void => {
  const domain = String(row.domain);
  const names = parseDomains(domain);
  if (names.join(',') !== domain) throw new Error('domain is not as it is stored');
  for (const name of names) {
    if (owners.get(name) !== row.id) throw new Error(`the name ${name} is not its own`);
    owners.delete(name);
  }
  if (row.forward_scheme !== 'http' && row.forward_scheme !== 'https') throw new Error('forward_scheme is none');
  if (!isPort(row.forward_port)) throw new Error('forward_port is none');
  parseOriginHost(String(row.forward_host));
  for (const [column, value] of Object.entries(row)) {
    if (typeof value !== 'number' || NUMBERS.has(column)) continue;
    if (value !== 0 && value !== 1) throw new Error(`${column} is neither 0 nor 1`);
  }
};

/**
 * Looks whether hosts, names, servers and certificates of a store are such that they could have been made here, before it comes
 * into use. Throws a `Refusal` (400) that names the first that is not.
 */
export const checkStoredTraffic = async (db: Executor, vault: Pick<Vault, 'open'>): Promise<void> => {
  const owners = new Map<string, number>();
  for await (const { rows } of readTables(db, ['proxy_host_names'])) {
    for (const row of rows) owners.set(String(row.name), Number(row.proxy_host_id));
  }
  for await (const { rows } of readTables(db, ['proxy_hosts'])) {
    for (const row of rows) await about(`proxy host ${row.domain}`, () => checkHost(row, owners));
  }
  for (const name of owners.keys())
    throw refuse.invalid(`the name ${name} belongs to a proxy host that does not have it`);
  for await (const { rows } of readTables(db, ['remote_servers'])) {
    for (const row of rows) {
      await about(`remote server ${row.name}`, () => {
        if (!isPort(row.port)) throw new Error('port is none');
      });
    }
  }
  for await (const { rows } of readTables(db, ['certificates'])) {
    for (const row of rows) {
      await about(`certificate ${row.name}`, () => {
        const key = vault.open(String(row.key_sealed), certificateKeyContext(String(row.uuid)));
        parseCertificatePair(String(row.chain_pem), key);
      });
    }
  }
};
