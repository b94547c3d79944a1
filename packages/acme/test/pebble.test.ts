import { X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pebble, startPebble } from '../../../test/support/start-pebble.ts';
import {
  type AcmeClient,
  type AcmeClientOptions,
  AcmeEnded,
  AcmeProblem,
  AcmeProtocolError,
  type AcmeTransport,
  createAcmeClient,
  makeCertificateKey,
  makeCsr,
  type Order,
} from '../src/index.ts';
import { newAccountKey } from './account-key.ts';
import { failure } from './failure.ts';
import { httpsTransport } from './transport.ts';

const clientOf = (pebble: Pebble, more: Partial<AcmeClientOptions> = {}): AcmeClient =>
  createAcmeClient({
    directoryUrl: pebble.directoryUrl,
    accountKey: newAccountKey(),
    transport: httpsTransport(pebble.ca),
    ...more,
  });

const registered = async (pebble: Pebble): Promise<AcmeClient> => {
  const client = clientOf(pebble);
  await client.register({ email: 'admin@example.com', termsAgreed: true });
  return client;
};

/** Answers http-01 on the port where this Pebble asks. */
const startResponder = async (port: number) => {
  const answers = new Map<string, string>();
  const server: Server = createServer(({ url = '' }, response) => {
    const answer = answers.get(url.replace('/.well-known/acme-challenge/', ''));
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    answers,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** Has every authorization of the order proven, and downloads what it makes. */
const complete = async (
  client: AcmeClient,
  order: Order,
  challengeType: 'http-01' | 'dns-01',
  answer: (name: string, token: string) => Promise<void>,
  keyPem: string,
): Promise<string> => {
  for (const url of order.authorizations) {
    const { name, status, challenges } = await client.authorization(url);
    if (status === 'valid') continue;
    const challenge = challenges.find(({ type }) => type === challengeType);
    if (challenge === undefined) throw new Error(`${name} has no ${challengeType}`);
    await answer(name, challenge.token);
    await client.startChallenge(challenge.url);
    await client.waitForAuthorization(url);
  }
  await client.waitForOrder(order.url);
  const { names } = order;
  await client.finalize(order, await makeCsr({ names, keyPem }));
  const { certificate = '' } = await client.waitForOrder(order.url);
  return client.certificate(certificate, { names, keyPem });
};

/** The proof that this client serves by HTTP. */
type Prove = (name: string, token: string) => Promise<void>;

describe('an ordinary Pebble', () => {
  let pebble: Pebble;
  let responder: Awaited<ReturnType<typeof startResponder>>;
  beforeAll(async () => {
    pebble = await startPebble({ refusedNames: ['refused.example'], alternateRoots: 2 });
    responder = await startResponder(pebble.httpPort);
  });
  afterAll(async () => {
    await responder?.stop();
    await pebble?.stop();
  });

  const byHttp =
    (client: AcmeClient): Prove =>
    async (_, token) => {
      responder.answers.set(token, await client.keyAuthorization(token));
    };

  const issued = async (client: AcmeClient, names: readonly string[]) => {
    const keyPem = await makeCertificateKey('p256');
    const order = await client.newOrder({ names });
    const chain = await complete(client, order, 'http-01', byHttp(client), keyPem);
    const { certificate = '' } = await client.order(order.url);
    return { order, keyPem, chain, certificate };
  };

  test('certifies several names and an address by http-01, with every type of key', async () => {
    const client = await registered(pebble);
    const names = ['b.example.com', 'A.example.com', '127.0.0.1'];
    for (const type of ['p256', 'p384', 'rsa2048'] as const) {
      const keyPem = await makeCertificateKey(type);
      const order = await client.newOrder({ names });
      expect(order).toMatchObject({ status: 'pending', certificate: undefined, error: undefined });
      expect(order.expires?.getTime()).toBeGreaterThan(Date.now());
      const chain = await complete(client, order, 'http-01', byHttp(client), keyPem);
      const leaf = new X509Certificate(chain);
      expect(leaf.subjectAltName?.split(', ').sort()).toEqual([
        'DNS:a.example.com',
        'DNS:b.example.com',
        'IP Address:127.0.0.1',
      ]);
      expect(chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    }
  });

  test('certifies a wildcard and its own parent by dns-01', async () => {
    const client = await registered(pebble);
    const keyPem = await makeCertificateKey('p256');
    const order = await client.newOrder({ names: ['*.wild.example', 'wild.example'] });
    const authorizations = await Promise.all(order.authorizations.map((url) => client.authorization(url)));
    expect(authorizations.map(({ name, wildcard }) => [name, wildcard]).sort()).toEqual([
      ['wild.example', false],
      ['wild.example', true],
    ]);
    const prove: Prove = async (name, token) =>
      pebble.dns.addText(`_acme-challenge.${name}`, await client.dnsRecordValue(token));
    const chain = await complete(client, order, 'dns-01', prove, keyPem);
    expect(new X509Certificate(chain).subjectAltName).toContain('DNS:*.wild.example');
  });

  test('a record behind an alias proves a name, and a wrong one does not', async () => {
    const client = await registered(pebble);
    await pebble.dns.setAlias('_acme-challenge.alias.example', 'alias.validation.example');
    const prove: Prove = async (_, token) =>
      pebble.dns.addText('alias.validation.example', await client.dnsRecordValue(token));
    const order = await client.newOrder({ names: ['alias.example'] });
    await complete(client, order, 'dns-01', prove, await makeCertificateKey('p256'));

    const other = await client.newOrder({ names: ['wrong.example'] });
    await pebble.dns.addText('_acme-challenge.wrong.example', 'nonsense');
    const work = complete(client, other, 'dns-01', async () => {}, await makeCertificateKey('p256'));
    const problem = (await failure(work)) as AcmeProblem;
    expect(problem).toBeInstanceOf(AcmeProblem);
    expect(problem.is('unauthorized')).toBe(true);
  });

  test('what fails is told in the CA’s words, fails its order, and a new order succeeds', async () => {
    const client = await registered(pebble);
    const names = ['good.example', 'bad.example'];
    const order = await client.newOrder({ names });
    const prove: Prove = async (name, token) => {
      const right = await client.keyAuthorization(token);
      responder.answers.set(token, name === 'bad.example' ? 'something else' : right);
    };
    const problem = (await failure(
      complete(client, order, 'http-01', prove, await makeCertificateKey('p256')),
    )) as AcmeProblem;
    expect(problem).toBeInstanceOf(AcmeProblem);
    expect(problem.is('unauthorized')).toBe(true);
    expect(problem.detail).toContain('something else');
    expect(problem.url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    expect(await client.authorization(problem.url)).toMatchObject({ name: 'bad.example', status: 'invalid' });
    const failed = await failure(client.waitForOrder(order.url));
    // Which of them depends on whether this Pebble repeats in the order what has failed.
    expect(failed instanceof AcmeProblem || failed instanceof AcmeEnded).toBe(true);
    await issued(client, names);
  });

  test('a name that the CA refuses, an order of nothing', async () => {
    const client = await registered(pebble);
    const refused = (await failure(client.newOrder({ names: ['www.refused.example'] }))) as AcmeProblem;
    expect(refused).toBeInstanceOf(AcmeProblem);
    expect(refused.is('rejectedIdentifier')).toBe(true);
    expect(refused.message).toContain('www.refused.example');
    expect(await failure(client.newOrder({ names: [] }))).toBeInstanceOf(AcmeProblem);
  });

  test('terms that nobody agrees to', async () => {
    expect((await clientOf(pebble).directory()).termsOfService).toMatch(/^(https?|data):/);
    const problem = (await failure(clientOf(pebble).register({ termsAgreed: false }))) as AcmeProblem;
    expect(problem).toBeInstanceOf(AcmeProblem);
    expect(problem.detail).toMatch(/terms of service|agree/i);
  });

  test('an account is found by its key, made once, and gone when deactivated', async () => {
    const accountKey = newAccountKey();
    const first = clientOf(pebble, { accountKey });
    expect(await first.findAccount()).toBeUndefined();
    expect(await failure(first.newOrder({ names: ['a.example.com'] }))).toBeInstanceOf(AcmeProblem);
    const { accountUrl } = await first.register({ email: 'admin@example.com', termsAgreed: true });
    expect(await first.register({ termsAgreed: true })).toEqual({ accountUrl });
    const second = clientOf(pebble, { accountKey });
    expect((await second.newOrder({ names: ['a.example.com'] })).names).toEqual(['a.example.com']);
    expect(await second.findAccount()).toEqual({ accountUrl });
    const third = clientOf(pebble, { accountKey, accountUrl });
    expect((await third.newOrder({ names: ['a.example.com'] })).status).toBe('pending');
    await third.deactivateAccount();
    expect(await failure(second.newOrder({ names: ['a.example.com'] }))).toBeInstanceOf(AcmeProblem);
  });

  test('an order is finalized neither too early nor by a request for something else', async () => {
    const client = await registered(pebble);
    const keyPem = await makeCertificateKey('p256');
    const order = await client.newOrder({ names: ['early.example'] });
    const csr = await makeCsr({ names: ['early.example'], keyPem });
    const early = (await failure(client.finalize(order, csr))) as AcmeProblem;
    expect(early.is('orderNotReady')).toBe(true);

    const [url = ''] = order.authorizations;
    const { challenges } = await client.authorization(url);
    const { token = '', url: challengeUrl = '' } = challenges.find(({ type }) => type === 'http-01') ?? {};
    responder.answers.set(token, await client.keyAuthorization(token));
    await client.startChallenge(challengeUrl);
    await client.waitForAuthorization(url);
    expect((await client.waitForOrder(order.url)).status).toBe('ready');
    const other = await makeCsr({ names: ['other.example'], keyPem });
    expect(await failure(client.finalize(order, other))).toBeInstanceOf(AcmeProblem);
  });

  test('a certificate is refused for another key, or when it lacks a name', async () => {
    const client = await registered(pebble);
    const { certificate, keyPem, chain } = await issued(client, ['mine.example']);
    expect(await client.certificate(certificate, { names: ['MINE.example'], keyPem })).toBe(chain);
    const otherKey = await makeCertificateKey('p256');
    const forOther = await failure(client.certificate(certificate, { names: ['mine.example'], keyPem: otherKey }));
    expect(forOther).toBeInstanceOf(AcmeProtocolError);
    expect((forOther as Error).message).toContain('another key');
    const names = ['mine.example', 'more.example'];
    const lacking = await failure(client.certificate(certificate, { names, keyPem }));
    expect(lacking).toBeInstanceOf(AcmeProtocolError);
    expect((lacking as Error).message).toContain('more.example');
  });

  test('the chain to the root that is preferred, and the first one when there is no such root', async () => {
    const client = await registered(pebble);
    const { certificate, keyPem, order, chain } = await issued(client, ['rooted.example']);
    const { names } = order;
    const issuerOf = (pem: string) =>
      new X509Certificate(pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE'))).issuer.replace('CN=', '');
    for (const index of [1, 2]) {
      const preferredRoot = new X509Certificate(await pebble.root(index)).subject.replace('CN=', '');
      const other = await client.certificate(certificate, { names, keyPem, preferredRoot });
      expect(issuerOf(other)).toBe(preferredRoot);
      expect(other).not.toBe(chain);
    }
    expect(await client.certificate(certificate, { names, keyPem, preferredRoot: 'no such root' })).toBe(chain);
  });

  test('a certificate is revoked, once or twice', async () => {
    const client = await registered(pebble);
    const { chain } = await issued(client, ['gone.example']);
    const { serialNumber } = new X509Certificate(chain);
    expect(await pebble.statusOf(serialNumber)).toBe('Valid');
    await client.revoke(chain, 4);
    expect(await pebble.statusOf(serialNumber)).toBe('Revoked');
    await client.revoke(chain);
    const stranger = await registered(pebble);
    const { chain: other } = await issued(client, ['stays.example']);
    expect(await failure(stranger.revoke(other))).toBeInstanceOf(AcmeProblem);
  });

  test('when to renew is what this CA says, or nothing', async () => {
    const client = await registered(pebble);
    const { chain } = await issued(client, ['renewed.example']);
    const info = await client.renewalInfo(chain);
    // Debian 12 has a Pebble that does not know ARI, Debian 13 one that does.
    if ((await client.directory()).renewalInfo === undefined) expect(info).toBeUndefined();
    else expect(info?.windowEnd.getTime()).toBeGreaterThan(info?.windowStart.getTime() ?? Number.NaN);
  });

  test('waiting ends with its signal, and what is not there is the CA’s problem', async () => {
    const ending = new AbortController();
    const accountKey = newAccountKey();
    await clientOf(pebble, { accountKey }).register({ termsAgreed: true });
    let pauses = 0;
    const pause = async (_: number, signal: AbortSignal | undefined) => {
      pauses += 1;
      if (pauses === 3) ending.abort(new Error('given up'));
      signal?.throwIfAborted();
    };
    const client = clientOf(pebble, { accountKey, signal: ending.signal, pause });
    const order = await client.newOrder({ names: ['slow.example'] });
    expect(await failure(client.order(`${order.url}nonsense`))).toMatchObject({ status: 404 });
    // Nobody has started a challenge.
    await expect(client.waitForAuthorization(order.authorizations[0] ?? '')).rejects.toThrow('given up');
    expect(pauses).toBe(3);
    await expect(client.order(order.url)).rejects.toThrow('given up');
  });
});

test('a strict Pebble that calls every second nonce bad, and takes authorizations over', async () => {
  const pebble = await startPebble({ badNonces: 50, isCredulous: true, isStrict: true, reusedAuthorizations: 100 });
  try {
    let refusals = 0;
    const transport: AcmeTransport = async (request) => {
      const response = await httpsTransport(pebble.ca)(request);
      if (response.body.includes('urn:ietf:params:acme:error:badNonce')) refusals += 1;
      return response;
    };
    const client = clientOf(pebble, { transport });
    await client.register({ termsAgreed: true });
    const names = ['one.example', 'two.example', 'three.example'];
    const keyPem = await makeCertificateKey('p256');
    const order = await client.newOrder({ names });
    // At once: they take nonces from one another.
    await Promise.all(
      order.authorizations.map(async (url) => {
        const { challenges } = await client.authorization(url);
        await client.startChallenge(challenges[0]?.url ?? '');
        expect(await client.waitForAuthorization(url)).toMatchObject({ status: 'valid' });
      }),
    );
    await complete(client, order, 'http-01', async () => {}, keyPem);
    const again = await client.newOrder({ names });
    const chain = await complete(
      client,
      again,
      'http-01',
      async () => {
        throw new Error('nothing is left to be proven');
      },
      keyPem,
    );
    expect(new X509Certificate(chain).subjectAltName).toContain('DNS:two.example');
    // Of some 25 requests every second one.
    expect(refusals).toBeGreaterThan(0);
  } finally {
    await pebble.stop();
  }
});

test('accounts that have to be bound to an external one', async () => {
  const hmacKey = Buffer.from('a key that the CA has given out, of 48 bytes, yes').toString('base64url');
  const pebble = await startPebble({ externalAccounts: { 'kid-1': hmacKey }, isCredulous: true });
  try {
    const register = (eab?: { kid: string; hmacKey: string }) =>
      clientOf(pebble).register({ termsAgreed: true, ...(eab && { eab }) });
    expect((await clientOf(pebble).directory()).externalAccountRequired).toBe(true);
    const none = (await failure(register())) as AcmeProblem;
    expect(none.is('externalAccountRequired')).toBe(true);
    const wrong = Buffer.from('a key that the CA has never given out to anyone').toString('base64url');
    expect(await failure(register({ kid: 'kid-1', hmacKey: wrong }))).toBeInstanceOf(AcmeProblem);
    expect(await failure(register({ kid: 'kid-2', hmacKey }))).toBeInstanceOf(AcmeProblem);
    expect(await failure(register({ kid: 'kid-1', hmacKey: 'not base64!' }))).toBeInstanceOf(AcmeProtocolError);
    expect((await register({ kid: 'kid-1', hmacKey })).accountUrl).toContain(new URL(pebble.directoryUrl).host);
  } finally {
    await pebble.stop();
  }
});
