import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import { proxyHostStore } from '@sallyport/server/testing/parts';
import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';

/** The name of the host with this number. */
export const domainOf = (index: number): string => `host-${index}.customer-${index % 977}.example.com`;

/** Makes a store with `count` hosts in front of one origin, for a product that was not started yet; returns their uuids. */
export const fillStore = async (
  dataDir: string,
  { count, originPort }: { count: number; originPort: number },
): Promise<string[]> => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const database = openDatabase({ dataDir, databaseUrl: undefined });
  await migrate(database);
  const now = new Date().toISOString();
  const uuids: string[] = [];
  await database.transact(async (tx) => {
    const hosts = proxyHostStore(tx);
    for (let index = 0; index < count; index++) {
      const [domain, uuid] = [domainOf(index), randomUUID()];
      const fields = { ...PROXY_HOST_DEFAULTS, domain, forward_host: '127.0.0.1', forward_port: originPort };
      await hosts.insert({ ...fields, uuid, created_at: now, updated_at: now }, [domain]);
      uuids.push(uuid);
    }
  });
  await database.stop();
  return uuids;
};
