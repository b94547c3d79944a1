import { createServer, type Server } from 'node:http';
import type { Pebble } from '../../../../test/support/start-pebble.ts';
import {
  type AcmeClient,
  type AcmeClientOptions,
  createAcmeClient,
  type KeyType,
  makeCertificateKey,
  makeCsr,
  type Order,
} from '../../src/index.ts';
import { newAccountKey } from '../account-key.ts';
import { httpsTransport } from '../transport.ts';

/** A client of a Pebble, with a new key. */
export const clientOf = (pebble: Pebble, more: Partial<AcmeClientOptions> = {}): AcmeClient =>
  createAcmeClient({
    directoryUrl: pebble.directoryUrl,
    accountKey: newAccountKey(),
    transport: httpsTransport(pebble.ca),
    ...more,
  });

/** A client with an account. */
export const registered = async (pebble: Pebble): Promise<AcmeClient> => {
  const client = clientOf(pebble);
  await client.register({ email: 'admin@example.com', termsAgreed: true });
  return client;
};

/** Puts the proof for a name where the authority looks. */
export type Prove = (name: string, token: string) => Promise<void>;

/** Has every authorization of the order proven, and downloads what it makes. */
export const complete = async (
  client: AcmeClient,
  order: Order,
  challengeType: 'http-01' | 'dns-01',
  answer: Prove,
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

/** Answers http-01 on the port where a Pebble asks. */
export const startResponder = async (port: number) => {
  const answers = new Map<string, string>();
  const server: Server = createServer(({ url = '' }, response) => {
    const answer = answers.get(url.replace('/.well-known/acme-challenge/', ''));
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const byHttp =
    (client: AcmeClient): Prove =>
    async (_, token) => {
      answers.set(token, await client.keyAuthorization(token));
    };
  return {
    answers,
    byHttp,
    /** A certificate for these names, with all that it was made of. */
    async issued(client: AcmeClient, names: readonly string[], keyType: KeyType = 'p256') {
      const keyPem = await makeCertificateKey(keyType);
      const order = await client.newOrder({ names });
      const chain = await complete(client, order, 'http-01', byHttp(client), keyPem);
      const { certificate = '' } = await client.order(order.url);
      return { order, keyPem, chain, certificate };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
export type Responder = Awaited<ReturnType<typeof startResponder>>;
