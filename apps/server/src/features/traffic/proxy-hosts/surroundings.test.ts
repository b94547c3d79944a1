import { randomUUID } from 'node:crypto';
import { type NewProxyHost, PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import type { StoredProxyHost } from './store.ts';
import { createHostSurroundings, type SurroundingsDeps } from './surroundings.ts';

const NOW = new Date('2026-05-02T12:00:00.000Z');
const SWITCHES = { guard: true, acl: false, waf: true };

const host = (id: number, fields: Partial<NewProxyHost> = {}) =>
  ({ ...PROXY_HOST_DEFAULTS, id, domain: `h${id}.test`, ...fields }) as StoredProxyHost;

const addList = async (db: Executor, name: string, enabled: 0 | 1): Promise<number> => {
  const row = {
    uuid: randomUUID(),
    name,
    type: 'deny',
    description: '',
    rules: '[]',
    countries: '[]',
    local_network_only: 0 as const,
    enabled,
    created_at: '',
    updated_at: '',
  };
  const { id } = await db.insertInto('access_lists').values(row).returning('id').executeTakeFirstOrThrow();
  return id;
};

const addCertificate = async (
  db: Executor,
  domains: string,
  more: { revoked_at?: string; is_placeholder?: 1 } = {},
) => {
  const texts = { name: `of ${domains}`, provider: 'custom', domains, chain_pem: '', key_sealed: '' };
  const times = { not_before: NOW.toISOString(), expires_at: '2026-06-01T00:00:00.000Z', created_at: '' };
  const row = { uuid: randomUUID(), ...texts, ...times, ...more };
  const { id } = await db.insertInto('certificates').values(row).returning('id').executeTakeFirstOrThrow();
  return id;
};

const given = (work: (it: { db: Executor; deps: SurroundingsDeps; asked: object[] }) => Promise<void>) =>
  withStore(async ({ kysely: db }) => {
    const asked: object[] = [];
    const deps: SurroundingsDeps = {
      db,
      modulesInForce: () => SWITCHES,
      refusedUpgradeAt: (id) => `for ${id}`,
      async autoCertificates(hosts) {
        asked.push(...hosts);
        return new Map(hosts.map(({ id }) => [id, ['not yet']]));
      },
      clock: () => NOW,
    };
    await work({ db, deps, asked });
  });

test('what hosts refer to is found, of each of them, and nothing else', () =>
  given(async ({ db, deps, asked }) => {
    const [on, off] = [await addList(db, 'on', 1), await addList(db, 'off', 0)];
    await addList(db, 'of nobody', 1);
    const own = await addCertificate(db, 'a.test,*.b.test');
    await addCertificate(db, 'h9.test');
    const around = await createHostSurroundings(deps).of([
      host(1, { access_list_id: on, certificate_id: own }),
      host(2, { access_list_id: off }),
      host(3, { access_list_id: off, certificate_id: own, ssl_forced: true, auto_certificate: true }),
      host(4),
    ]);
    expect([...around.accessLists]).toEqual([
      [on, { name: 'on', enabled: true }],
      [off, { name: 'off', enabled: false }],
    ]);
    expect([...around.certificates.keys()]).toEqual([own]);
    const certificate = around.certificates.get(own);
    expect(certificate).toMatchObject({
      ...{ name: 'of a.test,*.b.test', expires_at: '2026-06-01T00:00:00.000Z', revoked_at: null },
    });
    expect(['a.test', 'x.b.test', 'b.test', 'h9.test'].map((name) => certificate?.covers(name))).toEqual([
      ...[true, true, false, false],
    ]);
    expect([around.switches, around.now, around.refusedUpgradeAt(7)]).toEqual([SWITCHES, NOW, 'for 7']);
    // None of them waits for a certificate: each chose one, or wants none.
    expect(asked).toEqual([]);
    expect([around.hasCertificate('none.test'), around.hasRevoked('none.test')]).toEqual([true, false]);
  }));

test('of hosts that chose no certificate it is known which names have one, and whether that was revoked', () =>
  given(async ({ db, deps, asked }) => {
    await addCertificate(db, 'h1.test', { revoked_at: '2026-05-01T00:00:00.000Z' });
    await addCertificate(db, '*.test', { is_placeholder: 1 });
    const { of, certificatesChanged } = createHostSurroundings(deps);
    for (const fields of [{ ssl_forced: true }, { hsts_enabled: true }, { auto_certificate: true }]) {
      const { hasCertificate, hasRevoked } = await of([host(4), host(1, fields)]);
      expect([hasCertificate('h1.test'), hasRevoked('h1.test')], JSON.stringify(fields)).toEqual([true, true]);
      expect([hasCertificate('h2.test'), hasRevoked('h2.test')]).toEqual([false, false]);
    }
    const both = { auto_certificate: true, domain: 'a.test,b.test' };
    const { autoCertificates } = await of([host(4), host(6, both)]);
    expect(asked).toEqual([
      { id: 1, names: ['h1.test'] },
      { id: 6, names: ['a.test', 'b.test'] },
    ]);
    expect([...autoCertificates]).toEqual([[6, ['not yet']]]);

    // One that is valid is served in place of one that was revoked; it is known once they have changed.
    await addCertificate(db, 'h1.test');
    const known = async () => {
      const { hasCertificate, hasRevoked } = await of([host(1, { ssl_forced: true })]);
      return [hasCertificate('h1.test'), hasRevoked('h1.test')];
    };
    expect(await known()).toEqual([true, true]);
    certificatesChanged();
    expect(await known()).toEqual([true, false]);
  }));

test('hosts that count on nothing cost no look at the store', () =>
  given(async ({ deps }) => {
    const nowhere = new Proxy({} as Executor, { get: () => expect.unreachable('the store was asked') });
    const around = await createHostSurroundings({ ...deps, db: nowhere }).of([host(1), host(2)]);
    expect(around).toMatchObject({ switches: SWITCHES, now: NOW });
    expect([around.accessLists.size, around.certificates.size, around.autoCertificates.size]).toEqual([0, 0, 0]);
    expect([around.hasCertificate('h1.test'), around.hasRevoked('h1.test')]).toEqual([true, false]);
    expect(around.refusedUpgradeAt(1)).toBe('for 1');
  }));

test('a store that failed to answer is asked again', () =>
  given(async ({ db, deps }) => {
    await addCertificate(db, 'h1.test');
    let isDown = true;
    const flaky = new Proxy(db, {
      get(target, name) {
        if (isDown && name === 'selectFrom') throw new Error('the store is down');
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const { of } = createHostSurroundings({ ...deps, db: flaky });
    const hosts = [host(1, { ssl_forced: true })];
    await expect(of(hosts)).rejects.toThrow('the store is down');
    isDown = false;
    expect((await of(hosts)).hasCertificate('h1.test')).toBe(true);
  }));
