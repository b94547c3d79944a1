import { randomUUID } from 'node:crypto';
import { PROXY_HOST_DEFAULTS, SECURITY_DEFAULTS, WAF_SETUP_DEFAULTS } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { proxyHostStore } from '../../traffic/proxy-hosts/store.ts';
import { securityStore } from './store.ts';

test('the configuration is the one that was stored last, exclusions and all', () =>
  withStore(async ({ kysely }) => {
    const store = securityStore(kysely);
    expect(await store.config()).toBeUndefined();
    const config = { ...SECURITY_DEFAULTS, waf_exclusions: [{ rule_id: 942100, target: 'ARGS:q' }], updated_at: 'now' };
    await store.setConfig(config);
    expect(await store.config()).toEqual(config);
    const other = { ...config, waf_mode: 'monitor', waf_fail_mode: 'open', crowdsec_mode: 'local' } as const;
    await store.setConfig({ ...other, waf_exclusions: [] });
    expect(await store.config()).toEqual({ ...other, waf_exclusions: [] });
  }));

test('the master switch and the token are there once, as they were set last', () =>
  withStore(async ({ kysely }) => {
    const store = securityStore(kysely);
    await store.setMaster(true);
    expect((await store.switches()).guard).toBe(true);
    await store.setMaster(false);
    expect((await store.switches()).guard).toBe(false);
    expect(await store.tokenHash()).toBeUndefined();
    await store.setToken('first', 'then');
    await store.setToken('second', 'now');
    expect(await store.tokenHash()).toBe('second');
    expect(await kysely.selectFrom('break_glass_tokens').select('created_at').execute()).toEqual([
      { created_at: 'now' },
    ]);
    await store.deleteToken();
    expect(await store.tokenHash()).toBeUndefined();
  }));

test('hosts are special for one thing alone, and the longest body is that of any', () =>
  withStore(async ({ kysely, transact }) => {
    const store = securityStore(kysely);
    const access = { uuid: 'u', name: 'n', description: '', type: 'allow', ip_rules: '[]', country_codes: '' } as const;
    const add = (domain: string, more: object) =>
      transact((tx) => {
        const fields = { ...PROXY_HOST_DEFAULTS, domain, forward_host: '127.0.0.1', forward_port: 1, ...more };
        const row = { ...fields, uuid: randomUUID(), created_at: access.uuid, updated_at: access.uuid };
        return proxyHostStore(tx).insert(row, [domain]);
      });
    expect(await store.guardedHosts()).toEqual([]);
    expect(await store.largestBodyLimit()).toBe(WAF_SETUP_DEFAULTS.waf_body_limit);
    expect([await store.hasSpecialHost([]), await store.hostIds([])]).toEqual([false, new Map()]);
    const plain = await add('plain.test', {});
    const methods = await add('methods.test', { waf_allowed_methods: 'GET' });
    const types = await add('types.test', { waf_allowed_content_types: 'text/plain' });
    const limit = await add('limit.test', { waf_body_limit: 5 });
    expect((await store.guardedHosts()).map(({ id }) => id)).toEqual([methods.id, types.id, limit.id]);
    expect((await store.guardedHosts())[0]).toMatchObject({
      ...{ waf_enabled: true, forward_reserved: false, waf_allowed_methods: 'GET', waf_body_limit: null },
    });
    expect(await store.largestBodyLimit()).toBe(WAF_SETUP_DEFAULTS.waf_body_limit);
    await store.setConfig({ ...SECURITY_DEFAULTS, waf_body_limit: 3, waf_exclusions: [], updated_at: '' });
    expect(await store.largestBodyLimit()).toBe(5);
    expect(await store.hasSpecialHost([plain.id])).toBe(false);
    expect(await store.hasSpecialHost([plain.id, types.id])).toBe(true);
    expect(await store.hostIds([plain.uuid, limit.uuid, randomUUID()])).toEqual(
      new Map([
        [plain.uuid, plain.id],
        [limit.uuid, limit.id],
      ]),
    );
  }));

test('the revision is that of the last change', () =>
  withStore(async ({ kysely, transact }) => {
    const store = securityStore(kysely);
    const before = await store.revision();
    await transact((tx) => securityStore(tx).setMaster(true));
    expect(await store.revision()).toBe(before + 1);
    await kysely.deleteFrom('revisions').execute();
    expect(await store.revision()).toBe(0);
  }));
