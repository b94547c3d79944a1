import { isIP } from 'node:net';
import type { Executor } from '../database/open.ts';
import { refuse } from '../errors.ts';
import { readTables } from './read-tables.ts';

const BITS: Readonly<Record<number, number>> = { 4: 32, 6: 128 };

/** Whether this is an address or a CIDR range, and nothing beside it. */
const isNetwork = (text: unknown): boolean => {
  const [, address = '', prefix = '0'] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(String(text)) ?? [];
  return !String(text).endsWith('\n') && Number(prefix) <= (BITS[isIP(address)] ?? -1);
};

const SOURCE = /^[\w.-]{1,64}$/;

const LISTS = ['admin_whitelist', 'rate_limit_bypass_list'] as const;

/**
 * Looks whether the networks of a store that HAProxy is told in maps are such, and their sources words: one line that it can't read
 * keeps it from starting, and one more clears who is banned. Throws a `Refusal` (400) that names the first that is not.
 */
export const checkNetworks = async (staged: Executor): Promise<void> => {
  for await (const { rows } of readTables(staged, ['decisions'])) {
    for (const { ip, source } of rows) {
      if (!isNetwork(ip)) throw refuse.invalid(`the ban of ${JSON.stringify(ip)}: ip is no address or CIDR range`);
      if (!SOURCE.test(String(source))) throw refuse.invalid(`the ban of ${ip}: source is none`);
    }
  }
  for await (const { rows } of readTables(staged, ['security_config'])) {
    for (const row of rows) {
      for (const list of LISTS) {
        const networks = String(row[list] ?? '');
        if (networks === '' || networks.split(',').every(isNetwork)) continue;
        throw refuse.invalid(`the security configuration: ${list} is no list of addresses and CIDR ranges`);
      }
    }
  }
};
