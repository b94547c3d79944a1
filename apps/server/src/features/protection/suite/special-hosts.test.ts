import { randomUUID } from 'node:crypto';
import { PROXY_HOST_DEFAULTS, type ProxyHostFields } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { emptyStore, onBothDatabases } from '../../../testing/start-app.ts';
import { withTables } from '../../../testing/with-store.ts';
import { proxyHostStore } from '../../traffic/proxy-hosts/store.ts';
import { securityStore } from './store.ts';

onBothDatabases('hosts that the guards treat differently', (kind) => {
  test('are those with an access list, without the firewall or with settings of their own, and only those', () =>
    emptyStore(kind, (config) =>
      withTables(config, async (database) => {
        const now = new Date().toISOString();
        const add = (domain: string, more: Partial<ProxyHostFields>) =>
          database.transact((tx) => {
            const fields = { ...PROXY_HOST_DEFAULTS, domain, forward_host: '127.0.0.1', forward_port: 1, ...more };
            return proxyHostStore(tx).insert({ ...fields, uuid: randomUUID(), created_at: now, updated_at: now }, [
              domain,
            ]);
          });
        const ordinary = await add('ordinary.test', {});
        const special = await add('special.test', { waf_enabled: false });
        const own = await add('own.test', { waf_body_limit: 20_000_000 });
        const security = securityStore(database.kysely);
        const reserved = await add('reserved.test', { forward_reserved: true });
        const none = {
          ...{ access_list_id: null, waf_allowed_methods: null, waf_allowed_content_types: null, waf_body_limit: null },
          ...{ forward_host: '127.0.0.1', forward_port: 1, forward_reserved: false },
        };
        expect(await security.guardedHosts()).toEqual([
          { id: special.id, ...none, waf_enabled: false },
          { id: own.id, ...none, waf_enabled: true, waf_body_limit: 20_000_000 },
          { id: reserved.id, ...none, waf_enabled: true, forward_reserved: true },
        ]);
        expect(await security.hasSpecialHost([own.id])).toBe(true);
        expect(await security.largestBodyLimit()).toBe(20_000_000);
        expect(await security.hasSpecialHost([ordinary.id])).toBe(false);
        expect(await security.hasSpecialHost([ordinary.id, special.id])).toBe(true);
      }),
    ));
});
