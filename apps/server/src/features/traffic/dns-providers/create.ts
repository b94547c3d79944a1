import { join } from 'node:path';
import { createNameServers, type NameServers } from '../../../net/name-servers.ts';
import type { SafeFetch } from '../../../net/safe-fetch.ts';
import type { Ground } from '../../ground.ts';
import { createDnsRecordWriter } from './create-writer.ts';
import { clearLeftRuns } from './lego/clear-left-runs.ts';
import { createLegoTypes } from './lego/types.ts';
import { createDnsProviders } from './service.ts';
import { dnsProviderStore } from './store.ts';
import { createProviderTypes } from './types.ts';

export interface DnsProviderPartsDeps {
  /** The setting `acme.dns_resolvers`. */
  resolvers: () => Promise<string>;
  /** Calls hooks: it may reach private addresses, which an administrator named. */
  fetch: SafeFetch;
}

/** Wires who may write to which zone, and how. */
export const createDnsProviderParts = (
  { dataDir, database, vault, record, clock, log }: Ground,
  { resolvers, fetch }: DnsProviderPartsDeps,
) => {
  const directory = join(dataDir, 'dns');
  clearLeftRuns(directory, log);
  const nameServers = async (): Promise<NameServers> => {
    const listed = await resolvers();
    return createNameServers(listed === '' ? [] : listed.split(' '));
  };
  const lego = createLegoTypes();
  const types = createProviderTypes(lego);
  const writer = createDnsRecordWriter({ nameServers, types, lego, fetch, directory });
  const { kysely: db, transact } = database;
  const providers = createDnsProviders({ db, transact, store: dnsProviderStore, vault, types, writer, record, clock });
  return {
    providers,
    /** Sets records at a provider: `writer.open(await providers.access(id), …)`. */
    writer,
    /** DNS as it is to be asked at this moment. */
    nameServers,
  };
};
