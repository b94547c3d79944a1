import { randomUUID } from 'node:crypto';
import { PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { openDatabase } from '../../db/open.ts';
import { emptyStore, onBothDatabases } from '../../testing/start-app.ts';
import { proxyHostStore } from '../proxy-hosts/store.ts';
import { securityStore } from './store.ts';

onBothDatabases('hosts that the guards treat differently', (kind) => {
  test('are those with an access list or without the firewall, and only those', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      await migrate(database);
      const now = new Date().toISOString();
      const add = (domain: string, waf_enabled: boolean) =>
        database.transact((tx) => {
          const fields = { ...PROXY_HOST_DEFAULTS, domain, waf_enabled, forward_host: '127.0.0.1', forward_port: 1 };
          return proxyHostStore(tx).insert({ ...fields, uuid: randomUUID(), created_at: now, updated_at: now }, [
            domain,
          ]);
        });
      const ordinary = await add('ordinary.test', true);
      const special = await add('special.test', false);
      const security = securityStore(database.kysely);
      expect(await security.guardedHosts()).toEqual([{ id: special.id, access_list_id: null, waf_enabled: false }]);
      expect(await security.hasSpecialHost([ordinary.id])).toBe(false);
      expect(await security.hasSpecialHost([ordinary.id, special.id])).toBe(true);
      await database.stop();
    });
  });
});
