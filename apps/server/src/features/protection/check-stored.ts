import { parseNetwork } from '@sallyport/access';
import { SecurityConfig } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { type Row, readTables } from '@sallyport/store/snapshot/read-tables';
import { accessListStore } from './access-lists/store.ts';
import { normaliseExclusions } from './suite/exclusions.ts';
import { normaliseNetworks } from './suite/network-list.ts';
import { securityStore } from './suite/store.ts';

const about = (what: string, look: () => void): void => {
  try {
    look();
  } catch (error) {
    throw refuse.invalid(`${what}: ${(error as Error).message}`);
  }
};

const LIST_TYPES = ['allow', 'deny', 'geo_allow', 'geo_deny'];

const checkList = (list: Awaited<ReturnType<ReturnType<typeof accessListStore>['all']>>[number]): void => {
  if (!LIST_TYPES.includes(list.type)) throw new Error('type is none');
  if (!Array.isArray(list.rules) || !Array.isArray(list.countries)) throw new Error('rules or countries are no list');
  for (const { cidr } of list.rules) parseNetwork(cidr);
  for (const country of list.countries) if (!/^[A-Z]{2}$/.test(country)) throw new Error(`${country} is no country`);
};

const checkDecision = (row: Row): void => {
  parseNetwork(String(row.ip));
  if (row.expires_at !== null && Number.isNaN(Date.parse(String(row.expires_at)))) throw new Error('no moment');
};

/**
 * Looks whether what the security suite of a store enforces is such that it could have been configured here, before it comes into
 * use: a list or a ban that does not parse protects nobody. Throws a `Refusal` (400) that names the first that is not.
 */
export const checkStoredProtection = async (db: Executor): Promise<void> => {
  let lists: Awaited<ReturnType<ReturnType<typeof accessListStore>['all']>>;
  try {
    lists = await accessListStore(db).all();
  } catch (cause) {
    throw refuse.invalid('an access list can not be read', { cause });
  }
  for (const list of lists) about(`access list ${list.name}`, () => checkList(list));
  const config = await securityStore(db)
    .config()
    .catch((cause: unknown) => {
      throw refuse.invalid('the security configuration can not be read', { cause });
    });
  if (config) {
    // Needed now and then only: it would lie in memory.
    const { Value } = await import('typebox/value');
    about('the security configuration', () => {
      const [problem] = Value.Errors(SecurityConfig, { ...config, enabled: false });
      if (problem) throw new Error(`${problem.instancePath.slice(1)} ${problem.message}`);
      normaliseNetworks(config.admin_whitelist, 'admin_whitelist');
      normaliseNetworks(config.rate_limit_bypass_list, 'rate_limit_bypass_list');
      normaliseExclusions(config.waf_exclusions);
    });
  }
  for await (const { rows } of readTables(db, ['decisions'])) {
    for (const row of rows) about(`the ban of ${row.ip}`, () => checkDecision(row));
  }
};
