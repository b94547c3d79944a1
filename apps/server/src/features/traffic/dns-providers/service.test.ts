import { type Actor, type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Database } from '@sallyport/store/database/open';
import { createHistory, oneByOne } from '@sallyport/store/history/record';
import { historyStore } from '@sallyport/store/history/store';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { createNameServers } from '../../../net/name-servers.ts';
import { createSafeFetch } from '../../../net/safe-fetch.ts';
import { anywhere } from '../../../testing/anywhere.ts';
import { withStore } from '../../../testing/with-store.ts';
import { createRevert } from '../../history/revert.ts';
import { createDnsRecordWriter } from './create-writer.ts';
import { secretsFor } from './destination.ts';
import { findLego } from './lego/program.ts';
import { createLegoTypes } from './lego/types.ts';
import { createDnsProviderReverter } from './reverter.ts';
import { createDnsProviders } from './service.ts';
import { dnsProviderStore } from './store.ts';
import { createProviderTypes } from './types.ts';

const actor = systemActor('test');
const NOW = '2026-11-23T12:00:00.000Z';
const clock = () => new Date(NOW);

const given = (work: (it: Awaited<ReturnType<typeof makeGiven>>) => Promise<void>) =>
  withStore(async (database, directory) => work(await makeGiven(database, directory)));

const makeGiven = async ({ kysely: db, transact }: Database, directory: string) => {
  const recorded: ChangeEntry[] = [];
  // Nobody is there whom a record could be asked of.
  const nobody = createNameServers([`127.0.0.1:${await freePort()}`]);
  const fetch = createSafeFetch({ lookup: async (name) => [name], addressPolicy: anywhere });
  /** As a process with this key has them, and with this lego. */
  const withKey = (key = 'k'.repeat(32), find = () => findLego()) => {
    const lego = createLegoTypes(find);
    const types = createProviderTypes(lego);
    const writer = createDnsRecordWriter({ types, lego, fetch, directory, nameServers: async () => nobody });
    const vault = createVault(key);
    const keep = oneByOne(createHistory({ vault, clock }));
    return createDnsProviders({
      ...{ db, transact, store: dnsProviderStore, vault, types, writer, clock },
      async record(tx, entry) {
        await keep(tx, entry);
        recorded.push(entry);
      },
    });
  };
  const providers = withKey();
  const revert = createRevert({
    ...{ db, transact, store: historyStore, vault: createVault('k'.repeat(32)) },
    reverters: { 'dns-providers': createDnsProviderReverter(providers) },
    keepingWayIn: async (_tx, _actor, change) => change(),
  });
  const newest = async (): Promise<number> =>
    (await db.selectFrom('history').select('id').orderBy('id', 'desc').executeTakeFirstOrThrow()).id;
  return {
    ...{ db, providers, withKey, recorded, newest },
    revert: (id: number, by: Actor = actor) =>
      revert.one(id, { actor: by, allows: () => true, showActor: (name) => name }),
  };
};

const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { status?: number; message: string; details?: string }) =>
      [error.status, error.message, error.details].filter(Boolean).join(' '),
  );

const HOOK = { name: 'hook', type: 'webhook', fields: { url: 'https://hook.test/dns', bearer_token: 'the-bearer' } };

test('a hook that gets another address has its secrets given anew, or removed: whoever changes it need not know them', () =>
  given(async ({ providers, recorded }) => {
    const { uuid } = await providers.create({ ...HOOK, fields: { ...HOOK.fields, signing_secret: 'signer' } }, actor);
    const url = 'https://hook.evil.test/dns';
    const why =
      'must be given anew, or removed with null: fields.url may decide where secrets are sent, and would change';
    const change = (fields: Record<string, string | null>) => refusal(providers.update(uuid, { fields }, actor));
    expect(await change({ url })).toBe(`400 fields.bearer_token, fields.signing_secret ${why}`);
    expect(await change({ url, signing_secret: 'mine' })).toBe(`400 fields.bearer_token ${why}`);
    expect(await change({ url, bearer_token: 'mine' })).toBe(`400 fields.signing_secret ${why}`);
    // Another path may be somebody else’s as well.
    expect(await change({ url: `${HOOK.fields.url}/other` })).toMatch(/^400 fields.bearer_token, /);
    expect(await refusal(providers.update(uuid, { type: 'webhook', fields: { url } }, actor))).toMatch(/^400 /);
    expect(recorded).toHaveLength(1);
    expect(await providers.access(uuid)).toMatchObject({ fields: { url: HOOK.fields.url } });

    expect(await change({ url: HOOK.fields.url })).toBe('done');
    expect((await providers.access(uuid)).secrets).toEqual({ bearer_token: 'the-bearer', signing_secret: 'signer' });
    expect(await change({ url, bearer_token: 'the-bearer', signing_secret: null })).toBe('done');
    expect(await providers.access(uuid)).toEqual({
      ...{ type: 'webhook', fields: { url }, secrets: { bearer_token: 'the-bearer' } },
    });
    expect(await change({ url, bearer_token: null })).toBe('done');
    // Where there is none there is nothing to send.
    expect(await change({ url: HOOK.fields.url })).toBe('done');
  }));

test('a name server that gets another address, or port, has its key given anew; how updates are made may change', () =>
  given(async ({ providers }) => {
    const key = { tsig_key_name: 'sallyport', tsig_secret: 'c2VjcmV0' };
    const fields = { nameserver: '192.0.2.53', ...key };
    const { id } = await providers.create({ name: 'bind', type: 'rfc2136', fields }, actor);
    const { tsig_secret, ...others } = fields;
    const change = (more: Record<string, string | null>) =>
      refusal(providers.update(id, { fields: { ...others, ...more } }, actor));
    expect(await change({ nameserver: '192.0.2.54' })).toMatch(/^400 fields.tsig_secret .*: fields.nameserver may/);
    expect(await change({ port: '5353' })).toMatch(/^400 fields.tsig_secret .*: fields.port may/);
    const also = { ttl: '120', zone: 'zone.test', tsig_key_name: 'other', tsig_algorithm: 'hmac-sha512' };
    expect(await change(also)).toBe('done');
    expect((await providers.access(id)).secrets).toEqual({ tsig_secret });
    expect(await change({ ...also, port: '5353', tsig_secret })).toBe('done');
    expect(await change(also)).toMatch(/^400 fields.tsig_secret .*: fields.port may/);
  }));

test('whatever may be a part of an address counts with lego’s providers, but not how long it takes, and how often', () =>
  given(async ({ providers }) => {
    const secrets = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
    const region = { AWS_REGION: 'eu-1' };
    const { id } = await providers.create({ name: 'c', type: 'route53', fields: { ...region, ...secrets } }, actor);
    const change = (fields: Record<string, string | null>) => refusal(providers.update(id, { fields }, actor));
    expect(await change({ AWS_REGION: 'evil.test/' })).toMatch(
      /^400 fields.AWS_ACCESS_KEY_ID, fields.AWS_SECRET_ACCESS_KEY must .*: fields.AWS_REGION may/,
    );
    expect(await change({})).toMatch(/: fields.AWS_REGION may/);
    expect(await change({ ...region, AWS_HOSTED_ZONE_ID: 'Z' })).toMatch(/: fields.AWS_HOSTED_ZONE_ID may/);
    const often = {
      ...{ AWS_TTL: '1', AWS_PROPAGATION_TIMEOUT: '2', AWS_POLLING_INTERVAL: '3', AWS_MAX_RETRIES: '4' },
    };
    expect(await change({ ...region, ...often })).toBe('done');
    expect(await change({ ...region, AWS_SECRET_ACCESS_KEY: 'another' })).toBe('done');
    expect((await providers.access(id)).secrets).toEqual({ ...secrets, AWS_SECRET_ACCESS_KEY: 'another' });
    expect(await change({ AWS_REGION: 'eu-2', ...secrets })).toBe('done');
  }));

test('secrets that an earlier version kept come back to no provider: it did not note where they may be sent', () => {
  const { type, fields } = HOOK;
  const comesBack = (secrets: object) => secretsFor({ type, fields }, secrets);
  expect(() => comesBack({ bearer_token: 'the-bearer' })).toThrow(
    'it is not known any more where the secrets may be sent',
  );
  expect(comesBack({})).toEqual({});
});

test('a change is taken back with the secrets that belong to it, and none comes back to another address', () =>
  given(async ({ providers, newest, revert }) => {
    const { uuid } = await providers.create(HOOK, actor);
    const change = async (fields: Record<string, string | null>) => {
      await providers.update(uuid, { fields }, actor);
      return newest();
    };
    const { url } = HOOK.fields;
    const evil = 'https://hook.evil.test/';
    const original = { type: 'webhook', fields: { url }, secrets: { bearer_token: 'the-bearer' } };
    // Of the secret alone, and of both.
    const rotated = await change({ url, bearer_token: 'next' });
    await revert(rotated);
    expect(await providers.access(uuid)).toEqual(original);
    const moved = await change({ url: evil, bearer_token: 'mine' });
    await revert(moved);
    expect(await providers.access(uuid)).toEqual(original);

    // First the secret goes, then the address, and then the secret would come back.
    const without = await change({ url, bearer_token: null });
    const away = await change({ url: evil });
    expect(await refusal(revert(without))).toMatch(
      /^409 The change can not be taken back any more .*: the secrets would be sent elsewhere than where they were given for: fields.url is another one since$/,
    );
    expect((await providers.access(uuid)).secrets).toEqual({});
    await revert(away);
    await revert(without);
    expect(await providers.access(uuid)).toEqual(original);

    // The same secret at another address, then a new one: that must not go to the first.
    const same = await change({ url: evil, bearer_token: 'the-bearer' });
    await change({ url: evil, bearer_token: 'for-evil-alone' });
    expect(await refusal(revert(same))).toMatch(/^409 .*It has been changed since: secrets/);

    await providers.remove(uuid, actor);
    await revert(await newest());
    expect(await providers.access(uuid)).toMatchObject({ secrets: { bearer_token: 'for-evil-alone' } });
  }));

test('a provider has a name of its own, without blanks about it, and is found by uuid, id and name', () =>
  given(async ({ providers, db, recorded }) => {
    const made = await providers.create({ ...HOOK, name: '  hook ' }, actor);
    expect(made).toMatchObject({ name: 'hook', created_at: NOW, updated_at: NOW, secrets_set: ['bearer_token'] });
    const used = { used_by: [], used_by_total: 0 };
    expect(await providers.get(made.uuid)).toEqual({ ...made, ...used });
    expect(await providers.get(made.id)).toEqual({ ...made, ...used });
    expect(await dnsProviderStore(db).named('hook')).toMatchObject({ uuid: made.uuid });
    expect(await dnsProviderStore(db).named('other')).toBeUndefined();
    const second = await providers.create({ ...HOOK, name: 'another' }, actor);
    for (const query of [
      { sort: 'name' },
      { sort: 'created_at', search: 'HOOK' },
      { sort: 'type' },
      { sort: 'updated_at' },
      {},
    ] as const) {
      const { rows, total } = await providers.list(query);
      expect([rows.length, total], JSON.stringify(query)).toEqual([2, 2]);
    }
    expect((await providers.list({ sort: 'name' })).rows[0]).toEqual(second);
    expect((await providers.list({ search: 'anoth' })).rows).toEqual([second]);
    const taken = '409 name "hook" is that of another DNS provider';
    expect(await refusal(providers.create({ ...HOOK, name: ' hook' }, actor))).toBe(taken);
    expect(await refusal(providers.update(second.id, { name: 'hook ' }, actor))).toBe(taken);
    expect(await refusal(providers.update(second.id, { name: ' ' }, actor))).toBe('400 name is required');
    await providers.update(second.id, { name: ' third ' }, actor);
    expect((await providers.get(second.id)).name).toBe('third');
    const stale = () => {
      throw new Error('412');
    };
    expect(await refusal(providers.update(second.id, { name: 'x' }, actor, stale))).toBe('412');
    expect(await refusal(providers.remove(second.id, actor, stale))).toBe('412');
    await providers.remove(second.id, actor);
    for (const gone of [providers.get(second.id), providers.access(second.id), providers.remove(second.id, actor)]) {
      expect(await refusal(gone)).toBe('404 DNS provider not found');
    }
    expect(recorded.map(({ action }) => action)).toEqual([
      ...['dns_provider.create', 'dns_provider.create', 'dns_provider.update', 'dns_provider.delete'],
    ]);
    expect(recorded.every(({ resource }) => /^dns-providers\/[0-9a-f-]{36}$/.test(resource))).toBe(true);
    // The audit trail is read by many.
    expect(JSON.stringify(recorded.map(({ before, after }) => [before, after]))).not.toContain('the-bearer');
  }));

test('one that certificates are proven by stays, and five of them are named', () =>
  given(async ({ providers, db }) => {
    const { id } = await providers.create(HOOK, actor);
    const prove = async (number: number) => {
      const uuid = `c${number}`;
      const plain = { name: `cert ${number}`, provider: 'acme', domains: '[]', chain_pem: '', key_sealed: '' };
      const times = { created_at: NOW, not_before: NOW, expires_at: NOW };
      const certificate = await db
        .insertInto('certificates')
        .values({ uuid, ...plain, ...times })
        .returning('id')
        .executeTakeFirstOrThrow();
      const order = { issuer: 'acme', challenge: 'dns-01', key_type: 'p256', names: 'a.test', steps: '[]' };
      const blank = { is_auto: 0, failures: 0, leased_by: '', leased_until: '', created_at: NOW, updated_at: NOW };
      await db
        .insertInto('certificate_orders')
        .values({ ...order, ...blank, certificate_id: certificate.id, dns_provider_id: id })
        .execute();
    };
    for (let number = 1; number <= 5; number++) await prove(number);
    const five = [1, 2, 3, 4, 5].map((number) => `cert ${number} (c${number})`).join(', ');
    const inUse = '409 DNS provider is in use by one or more certificates used by';
    expect(await refusal(providers.remove(id, actor))).toBe(`${inUse} ${five}`);
    await prove(6);
    expect(await refusal(providers.remove(id, actor))).toBe(`${inUse} ${five} and 1 more`);
    for (let number = 7; number <= 101; number++) await prove(number);
    const { used_by, used_by_total } = await providers.get(id);
    expect([used_by.length, used_by_total, used_by[0]?.name]).toEqual([100, 101, 'cert 1']);
  }));

test('one whose secrets are sealed with a lost key is renamed, given new ones, and says what to do', () =>
  given(async ({ providers, withKey, newest, revert }) => {
    const other = withKey('other '.repeat(8));
    const { uuid, id } = await other.create(HOOK, actor);
    expect((await providers.get(uuid)).secrets_set).toEqual([]);
    expect(await refusal(providers.access(uuid))).toMatch(
      /^The secrets of the DNS provider hook can not be opened .*: put that encryption key back, or give them anew$/,
    );
    expect(await providers.tryFor(id, 'a.test')).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^The secrets of the DNS provider hook can not be opened/),
    });
    await providers.update(uuid, { name: 'renamed' }, actor);
    expect((await other.access(uuid)).secrets).toEqual({ bearer_token: 'the-bearer' });
    await providers.update(uuid, { fields: { url: 'https://next.test/', bearer_token: 'next' } }, actor);
    expect((await providers.access(uuid)).secrets).toEqual({ bearer_token: 'next' });
    // What nobody can read does not come back.
    await revert(await newest());
    expect(await providers.access(uuid)).toEqual({ type: 'webhook', fields: { url: HOOK.fields.url }, secrets: {} });
  }));

test('the name goes without the lego that knows the type; nothing else does', () =>
  given(async ({ providers, withKey }) => {
    const { id } = await providers.create({ name: 'c', type: 'cloudflare', fields: { CF_API_KEY: 'k' } }, actor);
    const without = withKey(undefined, () => findLego('/nowhere'));
    await without.update(id, { name: 'renamed', type: 'cloudflare' }, actor);
    expect(await refusal(without.update(id, { fields: {} }, actor))).toMatch(
      /^400 type "cloudflare" is not known here/,
    );
    expect((await without.types({})).rows.map(({ type }) => type)).toEqual(['rfc2136', 'webhook']);
    expect((await without.get(id)).secrets_set).toEqual(['CF_API_KEY']);
    // Of another type nothing stays.
    await providers.update(id, { type: 'webhook', fields: { url: 'https://hook.test/' } }, actor);
    expect(await providers.access(id)).toEqual({ type: 'webhook', fields: { url: 'https://hook.test/' }, secrets: {} });
    expect((await providers.types({ search: 'cloudflare' })).rows[0]).toMatchObject({ type: 'cloudflare' });
    expect(Object.keys((await providers.types({})).rows[3] ?? {})).toEqual(['type', 'name', 'fields']);
  }));

test('a test is noted with what came of it, and one at a time', () =>
  given(async ({ providers, recorded }) => {
    const { uuid } = await providers.create(HOOK, actor);
    const [first, second] = await Promise.all([
      providers.test(uuid, ' *.Zone.Test. ', actor),
      refusal(providers.test(uuid, 'zone.test', actor)),
    ]);
    expect(first).toMatchObject({ ok: false, record: '_acme-challenge.zone.test', duration_ms: expect.any(Number) });
    expect(first.message).toContain('_acme-challenge.zone.test');
    expect(second).toBe('409 This DNS provider is being tested already');
    const { ok, message } = first;
    expect(recorded.at(-1)).toMatchObject({
      ...{ action: 'dns_provider.test', resource: `dns-providers/${uuid}` },
      after: { zone: 'zone.test', ok, message },
    });
    expect(await refusal(providers.test(uuid, 'no zone', actor))).toMatch(/^400 zone /);
    expect((await providers.test(uuid, 'zone.test', actor)).ok).toBe(false);
  }));
