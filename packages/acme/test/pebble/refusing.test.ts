import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pebble, startPebble } from '../../../../test/support/start-pebble.ts';
import { AcmeEnded, AcmeProblem, AcmeProtocolError, makeCertificateKey, makeCsr } from '../../src/index.ts';
import { newAccountKey } from '../account-key.ts';
import { failure } from '../failure.ts';
import { clientOf, complete, type Prove, type Responder, registered, startResponder } from './given.ts';

describe('what an authority does not certify', () => {
  let pebble: Pebble;
  let responder: Responder;
  beforeAll(async () => {
    pebble = await startPebble({ refusedNames: ['refused.example'] });
    responder = await startResponder(pebble.httpPort);
  });
  afterAll(async () => {
    await responder?.stop();
    await pebble?.stop();
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
    await responder.issued(client, names);
  });

  test('a name that the CA refuses, an order of nothing', async () => {
    const client = await registered(pebble);
    const refused = (await failure(client.newOrder({ names: ['www.refused.example'] }))) as AcmeProblem;
    expect(refused).toBeInstanceOf(AcmeProblem);
    expect(refused.is('rejectedIdentifier')).toBe(true);
    expect(refused.message).toContain('www.refused.example');
    expect(await failure(client.newOrder({ names: [] }))).toBeInstanceOf(AcmeProblem);
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
    const { certificate, keyPem, chain } = await responder.issued(client, ['mine.example']);
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
