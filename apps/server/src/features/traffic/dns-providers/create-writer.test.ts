import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Named, startNamed } from '../../../../../../test/support/start-named.ts';
import { createNameServers } from '../../../net/name-servers.ts';
import { createSafeFetch } from '../../../net/safe-fetch.ts';
import type { DnsProviderAccess } from './access.ts';
import { createDnsRecordWriter } from './create-writer.ts';
import { readAccountKey, recordValue } from './lego/account-key.ts';
import { createLegoTypes } from './lego/types.ts';
import { createProviderTypes } from './types.ts';
import type { DnsChallenge } from './writer.ts';

let named: Named;
beforeAll(async () => {
  named = await startNamed({
    zones: {
      'zone.test': ['_acme-challenge.led IN CNAME led.other.test.'],
      'other.test': [],
    },
  });
});
afterAll(() => named.stop());

const given = () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-dns-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const lego = createLegoTypes();
  const nameServers = createNameServers([named.resolver]);
  const writer = createDnsRecordWriter({
    nameServers: async () => nameServers,
    types: createProviderTypes(lego),
    lego,
    fetch: createSafeFetch({
      lookup: async (name) => [name],
      addressPolicy: { isBlockedAddress: () => false, isBlockedName: () => false },
    }),
    directory,
  });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const accountKeyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  const key = readAccountKey(accountKeyPem);
  const challenge = (domain: string): DnsChallenge => {
    const token = randomBytes(24).toString('base64url');
    return { domain, token, value: recordValue(token, key) };
  };
  const context = { accountKeyPem, signal: new AbortController().signal, waitMs: 60_000 };
  return { writer, challenge, context, directory };
};

const byUpdate = (): DnsProviderAccess => ({
  type: 'rfc2136',
  fields: { nameserver: '127.0.0.1', port: String(named.port), tsig_key_name: named.key.name },
  secrets: { tsig_secret: named.key.secret },
});
const byLego = (): DnsProviderAccess => ({
  type: 'lego-rfc2136',
  fields: { RFC2136_NAMESERVER: named.resolver, RFC2136_TSIG_ALGORITHM: 'hmac-sha256.' },
  secrets: { RFC2136_TSIG_KEY: named.key.name, RFC2136_TSIG_SECRET: named.key.secret },
});

describe.each([
  ['nsupdate', byUpdate],
  ['lego', byLego],
] as const)('by %s', (_who, provider) => {
  test('a record is there while it is open, and where a CNAME leads', async () => {
    const { writer, challenge, context, directory } = given();
    const plain = challenge('a.zone.test');
    const led = challenge('led.zone.test');
    for (const [one, name] of [
      [plain, '_acme-challenge.a.zone.test'],
      [led, 'led.other.test'],
    ] as const) {
      const open = await writer.open(provider(), [one], context);
      expect(await named.textOf(name)).toEqual([one.value]);
      await open.close();
      expect(await named.textOf(name)).toEqual([]);
    }
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a wrong TSIG secret is told for what it is, and not repeated', async () => {
    const { writer, challenge, context, directory } = given();
    const { fields, secrets, type } = provider();
    const wrong = randomBytes(32).toString('base64');
    const name = Object.keys(secrets).find((key) => /secret/i.test(key)) ?? '';
    const failing = writer.open(
      { type, fields, secrets: { ...secrets, [name]: wrong } },
      [challenge('b.zone.test')],
      context,
    );
    const error = await failing.catch((caught: Error) => caught as Error);
    expect(error).toMatchObject({
      name: 'DnsWriteFailed',
      message: expect.stringMatching(/BADSIG|bad authentication/),
    });
    expect((error as Error).message).not.toContain(wrong);
    expect(await named.textOf('_acme-challenge.b.zone.test')).toEqual([]);
    expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
  });
});
