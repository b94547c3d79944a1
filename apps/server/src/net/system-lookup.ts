import { lookup } from 'node:dns/promises';

/** All addresses of a name as the system sees it (/etc/hosts, then DNS), IPv4 first. Rejects when there is none. */
export const systemLookup = async (name: string): Promise<string[]> => {
  const found = await lookup(name, { all: true, order: 'ipv4first' });
  return found.map(({ address }) => address);
};
