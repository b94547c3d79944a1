import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { startPebble } from '../../../../test/support/start-pebble.ts';
import { type AcmeTransport, makeCertificateKey } from '../../src/index.ts';
import { httpsTransport } from '../transport.ts';
import { clientOf, complete } from './given.ts';

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
