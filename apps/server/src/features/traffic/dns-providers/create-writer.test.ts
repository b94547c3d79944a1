import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAcmeClient, makeCertificateKey, makeCsr } from '@sallyport/acme';
import { listProcesses, readEnvironment } from '@sallyport/deployment/processes';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { type Named, startNamed } from '../../../../../../test/support/start-named.ts';
import { startPebble } from '../../../../../../test/support/start-pebble.ts';
import { until } from '../../../../../../test/support/until.ts';
import { openAcmeTransport } from '../../../net/acme-transport.ts';
import { createNameServers } from '../../../net/name-servers.ts';
import { createSafeFetch } from '../../../net/safe-fetch.ts';
import { signatureOf } from '../../../net/webhook-signature.ts';
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
});
afterAll(() => named.stop());

const anywhere = { isBlockedAddress: () => false, isBlockedName: () => false };

const given = ({ resolver = named.resolver } = {}) => {
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

const failureOf = async (work: Promise<unknown>): Promise<Error> => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(Error);
  return error as Error;
};

/** Where packets are taken, and none is answered. */
const silentPort = async (): Promise<number> => {
  const silent = createSocket('udp4');
  const port = await freePort();
  await new Promise<void>((resolve) => silent.bind(port, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  return port;
};

/** The lego that a writer with this directory runs. */
const legoIn = (directory: string) => {
  const [found] = listProcesses().filter(({ argv }) => argv.some((word) => word.startsWith(directory)));
  return found;
};

describe.each([
  ['nsupdate', byUpdate],
  ['lego', byLego],
] as const)('by %s', (who, provider) => {
  test('a record is there while it is open, and where a CNAME leads', async () => {
    const { writer, challenge, context, directory } = given();
    for (const [domain, name] of [
      ['a.zone.test', '_acme-challenge.a.zone.test'],
      ['led.zone.test', 'led.other.test'],
    ] as const) {
      const one = challenge(domain);
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
    const access = { type, fields, secrets: { ...secrets, [name]: wrong } };
    const error = await failureOf(writer.open(access, [challenge('b.zone.test')], context));
    expect(error).toMatchObject({
      name: 'DnsWriteFailed',
      message: expect.stringMatching(/BADSIG|bad authentication/),
    });
    expect(error.message).not.toContain(wrong);
    expect(await named.textOf('_acme-challenge.b.zone.test')).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a wildcard and its parent are certified', async () => {
    const { writer, context } = given();
    const pebble = await startPebble({ resolver: named.resolver, isStrict: false });
    onTestFinished(() => pebble.stop());
    const { transport, close } = await openAcmeTransport({ caCertificate: pebble.ca });
    onTestFinished(close);
    const { directoryUrl } = pebble;
    const client = createAcmeClient({ directoryUrl, accountKey: context.accountKeyPem, transport });
    await client.register({ email: 'dns@example.com', termsAgreed: true });
    const names = [`*.${who}.zone.test`, `${who}.zone.test`];
    const order = await client.newOrder({ names });
    const proofs = new Map<string, { url: string; authorization: string }>();
    const challenges: DnsChallenge[] = [];
    for (const authorization of order.authorizations) {
      const { name, challenges: offered } = await client.authorization(authorization);
      const { token = '', url = '' } = offered.find(({ type }) => type === 'dns-01') ?? {};
      challenges.push({ domain: name, token, value: await client.dnsRecordValue(token) });
      proofs.set(token, { url, authorization });
    }
    for (const round of await writer.rounds(provider(), challenges)) {
      const open = await writer.open(provider(), round, context);
      for (const { token } of round) {
        const { url = '', authorization = '' } = proofs.get(token) ?? {};
        await client.startChallenge(url);
        await client.waitForAuthorization(authorization);
      }
      await open.close();
    }
    await client.waitForOrder(order.url);
    const keyPem = await makeCertificateKey('p256');
    await client.finalize(order, await makeCsr({ names, keyPem }));
    const { certificate = '' } = await client.waitForOrder(order.url);
    const chain = await client.certificate(certificate, { names, keyPem });
    expect(new X509Certificate(chain).subjectAltName).toContain(`DNS:*.${who}.zone.test`);
    expect(await named.textOf(`_acme-challenge.${who}.zone.test`)).toEqual([]);
  });

  test('CNAME records that lead in a circle are told', async () => {
    const { writer, challenge, context } = given();
    const error = await failureOf(writer.open(provider(), [challenge('round.zone.test')], context));
    expect(error.message).toBe('the CNAME records of _acme-challenge.round.zone.test lead in a circle');
  });

  test('CNAME records that lead to what is more than a name are refused, and nothing is written', async () => {
    const { writer, challenge, context } = given();
    const { fields, ...access } = provider();
    const inZone = who === 'lego' ? fields : { ...fields, zone: 'zone.test' };
    const opening = writer.open({ ...access, fields: inZone }, [challenge('planting.zone.test')], {
      ...context,
      waitMs: 100,
    });
    expect((await failureOf(opening)).message).toMatch(
      /^the CNAME records of _acme-challenge\.planting\.zone\.test lead to "planted\.zone\.test\. 60 in txt planted\.x", where no record can/,
    );
    expect(await named.textOf('planted.zone.test')).toEqual([]);
  });

  test('a record that the servers of its zone do not show in time is taken away again', async () => {
    const elsewhere = await startNamed({ zones: { 'zone.test': [] } });
    onTestFinished(() => elsewhere.stop());
    // lego asks the resolver which zone it is, and writes to its own server.
    const { writer, challenge, context, directory } = given({ resolver: elsewhere.resolver });
    const error = await failureOf(writer.open(provider(), [challenge('late.zone.test')], { ...context, waitMs: 100 }));
    expect(error.message).toMatch(
      /^The provider took the record, but .* ns1\.zone\.test \(127\.0\.0\.1:\d+\) does not show TXT _acme-challenge\.late\.zone\.test$/,
    );
    expect(await named.textOf('_acme-challenge.late.zone.test')).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('what is given up half-way leaves nothing behind', async () => {
    const { writer, challenge, context, directory } = given();
    const port = await silentPort();
    const access = provider();
    const fields =
      who === 'lego'
        ? { ...access.fields, RFC2136_NAMESERVER: `127.0.0.1:${port}`, RFC2136_DNS_TIMEOUT: '1' }
        : { ...access.fields, port: String(port), zone: 'zone.test' };
    const ending = new AbortController();
    const opening = failureOf(
      writer.open({ ...access, fields }, [challenge('hung.zone.test')], { ...context, signal: ending.signal }),
    );
    const isOurs = ({ argv, parentPid }: { argv: readonly string[]; parentPid: number }) =>
      parentPid === process.pid && (argv[0] ?? '').endsWith(who);
    await until('it is under way', () => listProcesses().some(isOurs));
    ending.abort(new Error('the server stops'));
    expect((await opening).message).toBe('the server stops');
    await until('nothing of it runs', () => !listProcesses().some(isOurs), 90_000);
    await until('nothing of it is left', () => readdirSync(directory).length === 0);
  });
});

describe('nsupdate', () => {
  test('two values at one name are one round, and more than those of others', async () => {
    const { writer, challenge, context } = given();
    const challenges = [challenge('two.zone.test'), challenge('two.zone.test'), challenge('led.zone.test')];
    expect(await writer.rounds(byUpdate(), challenges)).toEqual([challenges]);
    const other = await writer.open(byUpdate(), [challenge('two.zone.test')], context);
    const open = await writer.open(byUpdate(), challenges, context);
    expect(await named.textOf('_acme-challenge.two.zone.test')).toHaveLength(3);
    await open.close();
    expect(await named.textOf('_acme-challenge.two.zone.test')).toHaveLength(1);
    await other.close();
  });

  test('a server that never answers is given up', async () => {
    const { writer, challenge, context } = given();
    const { fields, ...access } = byUpdate();
    const port = await silentPort();
    const nowhere = { ...fields, port: String(port), zone: 'zone.test' };
    const error = await failureOf(writer.open({ ...access, fields: nowhere }, [challenge('c.zone.test')], context));
    expect(error.message).toContain('the server does not answer');
  });

  test('a zone that the server does not have is told', async () => {
    const { writer, challenge, context } = given();
    const { fields, ...access } = byUpdate();
    const error = await failureOf(
      writer.open({ ...access, fields: { ...fields, zone: 'foreign.test' } }, [challenge('c.zone.test')], context),
    );
    expect(error.message).toMatch(/^The name server 127\.0\.0\.1:\d+ did not take the update of zone foreign\.test: /);
  });
});

describe('lego', () => {
  test('writes one value after the other where a second one would push the first one out', async () => {
    const { writer, challenge } = given();
    const challenges = [challenge('x.zone.test'), challenge('x.zone.test')];
    expect(await writer.rounds(byLego(), challenges)).toEqual(challenges.map((one) => [one]));
    const cloudflare = { type: 'cloudflare', fields: {}, secrets: {} };
    expect(await writer.rounds(cloudflare, challenges)).toEqual([challenges]);
  });

  test('has nothing of our environment, no secret in its arguments, and a key that nobody else can read', async () => {
    process.env.SALLYPORT_TEST_ONLY = 'not for lego';
    onTestFinished(() => {
      delete process.env.SALLYPORT_TEST_ONLY;
    });
    const { writer, challenge, context, directory } = given();
    const access = byLego();
    const open = await writer.open(
      { ...access, fields: { ...access.fields, LD_PRELOAD: '/tmp/x.so' } },
      [challenge('e.zone.test')],
      context,
    );
    const lego = legoIn(directory);
    const environment = readEnvironment(lego?.pid ?? 0);
    expect(
      [...(environment?.keys() ?? [])].filter((name) => !/^(RFC2136_|SSL_CERT_|.*_proxy$)/i.test(name)).sort(),
    ).toEqual(['HOME', 'LEGO_CA_CERTIFICATES', 'LEGO_EXPERIMENTAL_CNAME_SUPPORT', 'PATH', 'TMPDIR']);
    expect(lego?.argv.join(' ')).not.toContain(named.key.secret);
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    const keys = files.filter((path) => path.endsWith('.key'));
    expect(keys).toHaveLength(1);
    const [run = ''] = files;
    expect(statSync(join(directory, run)).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, keys[0] ?? '')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(directory, keys[0] ?? ''), 'utf8')).toContain('BEGIN EC PRIVATE KEY');
    await open.close();
    expect(readdirSync(directory)).toEqual([]);
  });

  test('killed while its record is there, it leaves neither record nor key', async () => {
    const { writer, challenge, context, directory } = given();
    const open = await writer.open(byLego(), [challenge('k.zone.test')], context);
    const { pid = 0 } = legoIn(directory) ?? {};
    process.kill(pid, 'SIGKILL');
    await until('the key is gone', () => readdirSync(directory).length === 0);
    expect(await named.textOf('_acme-challenge.k.zone.test')).toHaveLength(1);
    await open.close();
    expect(await named.textOf('_acme-challenge.k.zone.test')).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('takes its record away when we are killed', async () => {
    const { challenge, context, directory } = given();
    const one = challenge('orphan.zone.test');
    const from = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
    const program = `
      const { createDnsRecordWriter } = await import(${from('./create-writer.ts')});
      const { createLegoTypes } = await import(${from('./lego/types.ts')});
      const { createProviderTypes } = await import(${from('./types.ts')});
      const { createNameServers } = await import(${from('../../../net/name-servers.ts')});
      const { resolver, directory, access, one, accountKeyPem } = JSON.parse(process.env.GIVEN);
      const lego = createLegoTypes();
      const nameServers = async () => createNameServers([resolver]);
      const writer = createDnsRecordWriter({ nameServers, types: createProviderTypes(lego), lego, directory });
      await writer.open(access, [one], { accountKeyPem, signal: new AbortController().signal });
      console.log('open');`;
    const told = { resolver: named.resolver, directory, access: byLego(), one, accountKeyPem: context.accountKeyPem };
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env: { ...process.env, GIVEN: JSON.stringify(told) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    await Promise.race([once(child.stdout, 'data'), ended]);
    expect(await named.textOf('_acme-challenge.orphan.zone.test')).toEqual([one.value]);
    child.kill('SIGKILL');
    await ended;
    await until('the record is gone', async () => {
      return (await named.textOf('_acme-challenge.orphan.zone.test')).length === 0;
    });
    await until('lego has ended', () => legoIn(directory) === undefined);
  });

  test('what it can not take away is told', async () => {
    const mortal = await startNamed({ zones: { 'zone.test': [] } });
    onTestFinished(() => mortal.stop());
    const { writer, challenge, context } = given({ resolver: mortal.resolver });
    const { type, fields } = byLego();
    const access = {
      type,
      fields: { ...fields, RFC2136_NAMESERVER: mortal.resolver },
      secrets: { RFC2136_TSIG_KEY: mortal.key.name, RFC2136_TSIG_SECRET: mortal.key.secret },
    };
    const open = await writer.open(access, [challenge('stuck.zone.test')], context);
    await mortal.stop();
    const error = await failureOf(open.close());
    expect(error.message).toMatch(/^lego \(rfc2136\) could not take the record away: /);
  });

  test('a challenge of another account, and a key that it can not hold, are refused', async () => {
    const { writer, challenge, context } = given();
    const other = { ...challenge('o.zone.test'), value: 'x'.repeat(43) };
    expect((await failureOf(writer.open(byLego(), [other], context))).message).toBe(
      'the challenge is not one of this account',
    );
    const { privateKey } = generateKeyPairSync('ed25519');
    const accountKeyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
    const error = await failureOf(writer.open(byLego(), [challenge('o.zone.test')], { ...context, accountKeyPem }));
    expect(error.message).toBe('lego takes accounts with ECDSA or RSA keys, not ed25519');
  });

  test('sets records for accounts with RSA and P-384 keys as well', async () => {
    const { writer, context } = given();
    for (const { privateKey } of [
      generateKeyPairSync('rsa', { modulusLength: 2_048 }),
      generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    ]) {
      const accountKeyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
      const value = recordValue('token', readAccountKey(accountKeyPem));
      const one = { domain: 'keys.zone.test', token: 'token', value };
      const open = await writer.open(byLego(), [one], { ...context, accountKeyPem });
      await open.close();
    }
  });
});

describe('a hook', () => {
  let hook: Server;
  let received: { headers: IncomingHttpHeaders; body: string }[] = [];
  let answer: { status: number; body: string } = { status: 204, body: '' };
  let url = '';
  beforeAll(async () => {
    hook = createServer((incoming, response) => {
      let body = '';
      incoming.on('data', (piece) => {
        body += String(piece);
      });
      incoming.on('end', () => {
        received.push({ headers: incoming.headers, body });
        response.writeHead(answer.status).end(answer.body);
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/dns`;
  });
  afterAll(() => {
    hook.close();
    hook.closeAllConnections();
  });

  const byHook = (): DnsProviderAccess => ({
    type: 'webhook',
    fields: { url },
    secrets: { bearer_token: 'the bearer', signing_secret: 'the signer' },
  });
  const asked = () => received.map(({ body }) => JSON.parse(body) as Record<string, string>);

  test('is asked to set and to take away, signed, by the name where the record lies', async () => {
    received = [];
    answer = { status: 204, body: '' };
    const { writer, challenge, context } = given();
    const one = challenge('led.zone.test');
    // What the hook would have done.
    const set = await writer.open(byUpdate(), [one], context);
    const open = await writer.open(byHook(), [one], context);
    await open.close();
    await set.close();
    const about = { domain: 'led.zone.test', name: 'led.other.test', value: one.value };
    expect(asked()).toEqual([
      { action: 'present', ...about },
      { action: 'cleanup', ...about },
    ]);
    for (const { headers, body } of received) {
      expect(headers).toMatchObject({
        authorization: 'Bearer the bearer',
        'content-type': 'application/json',
        'x-sallyport-signature': signatureOf('the signer', body),
      });
    }
  });

  test('that fails is told with what it said, and asked to take away what it may have set', async () => {
    received = [];
    answer = { status: 500, body: `no zone for you\n, the bearer ${'x'.repeat(5_000)}` };
    const { writer, challenge, context } = given();
    const error = await failureOf(writer.open(byHook(), [challenge('a.zone.test'), challenge('b.zone.test')], context));
    expect(error.message).toMatch(
      /^The hook answered present of _acme-challenge\.a\.zone\.test with status 500: no zone for you /,
    );
    expect(error.message).not.toContain('the bearer');
    expect(error.message.length).toBeLessThan(800);
    expect(asked().map(({ action, domain }) => `${action} ${domain}`)).toEqual([
      'present a.zone.test',
      'cleanup a.zone.test',
    ]);
  });

  test('that nobody answers for is told', async () => {
    const { writer, challenge, context } = given();
    const nowhere = { ...byHook(), fields: { url: `http://127.0.0.1:${await freePort()}/` } };
    const error = await failureOf(writer.open(nowhere, [challenge('a.zone.test')], context));
    expect(error.message).toBe(
      'The hook could not be called to present _acme-challenge.a.zone.test: connection refused',
    );
  });
});

test('a provider of a type that is not known any more is told', async () => {
  const { writer, challenge, context } = given();
  const gone = { type: 'gone', fields: {}, secrets: {} };
  expect((await failureOf(writer.open(gone, [challenge('a.zone.test')], context))).message).toContain(
    'No DNS provider of type gone is known here',
  );
});
