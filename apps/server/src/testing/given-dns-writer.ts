import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { freePort } from '../../../../test/support/free-ports.ts';
import { type Named, startNamed } from '../../../../test/support/start-named.ts';
import type { DnsProviderAccess } from '../features/traffic/dns-providers/access.ts';
import { createDnsRecordWriter } from '../features/traffic/dns-providers/create-writer.ts';
import { readAccountKey, recordValue } from '../features/traffic/dns-providers/lego/account-key.ts';
import { createLegoTypes } from '../features/traffic/dns-providers/lego/types.ts';
import { createProviderTypes } from '../features/traffic/dns-providers/types.ts';
import type { DnsChallenge } from '../features/traffic/dns-providers/writer.ts';
import { createNameServers } from '../net/name-servers.ts';
import { createSafeFetch } from '../net/safe-fetch.ts';
import { anywhere } from './anywhere.ts';

/** A name server of zone.test and other.test, which a writer asks and writes to. */
export const startZones = (): Promise<Named> =>
  startNamed({
    zones: {
      'zone.test': [
        '_acme-challenge.led IN CNAME led.other.test.',
        '_acme-challenge.round IN CNAME _acme-challenge.about',
        '_acme-challenge.about IN CNAME _acme-challenge.round',
        // Blanks in a label: in a script of nsupdate this would be a record of its own.
        '_acme-challenge.planting IN CNAME planted.zone.test.\\03260\\032IN\\032TXT\\032planted.x.',
      ],
      'other.test': [],
    },
  });

/** A writer that asks this resolver, and challenges of an account of its own. */
export const givenDnsWriter = ({ resolver }: Pick<Named, 'resolver'>) => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-dns-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const lego = createLegoTypes();
  const nameServers = createNameServers([resolver]);
  const writer = createDnsRecordWriter({
    nameServers: async () => nameServers,
    types: createProviderTypes(lego),
    lego,
    fetch: createSafeFetch({ lookup: async (name) => [name], addressPolicy: anywhere }),
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

export const byUpdate = ({ port, key }: Named): DnsProviderAccess => ({
  type: 'rfc2136',
  fields: { nameserver: '127.0.0.1', port: String(port), tsig_key_name: key.name },
  secrets: { tsig_secret: key.secret },
});
export const byLego = ({ resolver, key }: Named): DnsProviderAccess => ({
  type: 'lego-rfc2136',
  fields: { RFC2136_NAMESERVER: resolver, RFC2136_TSIG_ALGORITHM: 'hmac-sha256.' },
  secrets: { RFC2136_TSIG_KEY: key.name, RFC2136_TSIG_SECRET: key.secret },
});

/** What something fails with, that has to. */
export const failureOf = async (work: Promise<unknown>): Promise<Error> => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(Error);
  return error as Error;
};

/** Where packets are taken, and none is answered. */
export const silentPort = async (): Promise<number> => {
  const silent = createSocket('udp4');
  const port = await freePort();
  await new Promise<void>((resolve) => silent.bind(port, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  return port;
};
