import { type Actor, type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Database } from '@sallyport/store/database/open';
import { createHistory, oneByOne } from '@sallyport/store/history/record';
import { historyStore } from '@sallyport/store/history/store';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { createNameServers } from '../../../net/name-servers.ts';
import { createSafeFetch } from '../../../net/safe-fetch.ts';
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
const anywhere = { isBlockedAddress: () => false, isBlockedName: () => false };

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
