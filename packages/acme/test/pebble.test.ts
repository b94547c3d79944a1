import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pebble, startPebble } from '../../../test/support/start-pebble.ts';
import {
  type AcmeClient,
  type AcmeClientOptions,
  AcmeProblem,
  createAcmeClient,
  makeCertificateKey,
  makeCsr,
  type Order,
} from '../src/index.ts';
import { httpsTransport } from './transport.ts';

const newAccountKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

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

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (error: unknown) => error,
  );

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

  test('several names and an address by http-01, with every type of key', async () => {
    const client = await registered(pebble);
    const names = ['b.example.com', 'A.example.com', '127.0.0.1'];
    for (const type of ['p256', 'p384', 'rsa2048'] as const) {
      const keyPem = await makeCertificateKey(type);
      const order = await client.newOrder({ names });
      expect(order).toMatchObject({ status: 'pending', certificate: undefined, error: undefined });
      const chain = await complete(
        client,
        order,
        'http-01',
        async (_, token) => void responder.answers.set(token, await client.keyAuthorization(token)),
        keyPem,
      );
      const leaf = new X509Certificate(chain);
      expect(leaf.subjectAltName?.split(', ').sort()).toEqual([
        'DNS:a.example.com',
        'DNS:b.example.com',
        'IP Address:127.0.0.1',
      ]);
      expect(chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    }
  });

  test('a terms refusal is the CA’s own problem', async () => {
    const error = await failure(clientOf(pebble).register({ termsAgreed: false }));
    expect(error).toBeInstanceOf(AcmeProblem);
  });
});
