import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { type AcmeTransport, createAcmeClient, makeCertificateKey, makeCsr } from '@sallyport/acme';
import { APPLIED } from '@sallyport/enforcement/live-map';
import { Agent, fetch } from 'undici';
import { expect, test } from 'vitest';
import { givenHost } from '../../../../../../../test/support/haproxy/given.ts';
import { type Echo, startEchoOrigin } from '../../../../../../../test/support/haproxy/origins.ts';
import { ask } from '../../../../../../../test/support/http-client.ts';
import { startPebble } from '../../../../../../../test/support/start-pebble.ts';
import { emptyStore } from '../../../../testing/start-app.ts';
import { startChallengeNode } from '../../../../testing/start-challenge-node.ts';

/** HTTPS that trusts what this agent does. */
const transportOf =
  (dispatcher: Agent): AcmeTransport =>
  async ({ method, url, headers, body, signal }) => {
    const sent = { method, headers: { ...headers }, signal, dispatcher, ...(body !== undefined && { body }) };
    const response = await fetch(url, sent);
    return { status: response.status, headers: new Headers([...response.headers]), body: await response.text() };
  };

const newAccountKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

test('Pebble certifies hosts that let nobody in: TLS forced, a list, the firewall without a guard, off, unknown; and it is banned', () =>
  emptyStore('sqlite', async (config) => {
    const node = await startChallengeNode(config);
    const origin = await startEchoOrigin('echo');
    const pebble = await startPebble({ httpPort: node.proxy.port });
    const agent = new Agent({ connect: { ca: pebble.ca } });
    try {
      const guarded = { access_list: true, firewall: true };
      await node.proxy.serve(
        givenHost({ names: ['forced.test'], origin }, { ssl_forced: true, ...guarded }),
        givenHost({ names: ['guarded.test'], origin }, guarded),
        givenHost({ names: ['off.test'], origin }, { enabled: false }),
        givenHost({ names: ['open.test'], origin }),
      );
      const { plane, port } = node.proxy;
      const switches = { judgeAccess: true, judgeWaf: true, failMode: 'closed', policy: 1, remembered: 0 } as const;
      expect(await plane.applySwitches(switches)).toEqual(APPLIED);
      const status = async (host: string) => (await ask({ port, host })).status;
      const made = ['forced.test', 'guarded.test', 'off.test', 'open.test'];
      expect(await Promise.all(made.map(status))).toEqual([308, 503, 404, 200]);
      const ban = { type: 'replace', entries: [{ network: '127.0.0.0/8', reference: 'manual/x' }] } as const;
      expect(await plane.applyDecisions(ban)).toEqual(APPLIED);
      expect(await status('open.test')).toBe(403);

      const { directoryUrl } = pebble;
      const client = createAcmeClient({ directoryUrl, accountKey: newAccountKey(), transport: transportOf(agent) });
      await client.register({ email: 'admin@example.com', termsAgreed: true });
      const names = [...made, 'unknown.test'];
      const order = await client.newOrder({ names });
      const tokens: string[] = [];
      for (const url of order.authorizations) {
        const { challenges } = await client.authorization(url);
        const challenge = challenges.find(({ type }) => type === 'http-01');
        if (!challenge) throw new Error('no http-01');
        const { token } = challenge;
        tokens.push(token);
        await node.challenges.publish([{ token, keyAuthorization: await client.keyAuthorization(token) }]);
        await client.startChallenge(challenge.url);
        await client.waitForAuthorization(url);
      }
      await node.challenges.withdraw(tokens);
      await client.waitForOrder(order.url);
      const keyPem = await makeCertificateKey('p256');
      await client.finalize(order, await makeCsr({ names, keyPem }));
      const { certificate = '' } = await client.waitForOrder(order.url);
      const chain = await client.certificate(certificate, { names, keyPem });
      const certified = new X509Certificate(chain).subjectAltName?.split(', ').sort();
      expect(certified).toEqual(names.map((name) => `DNS:${name}`).sort());

      // What is over goes to the host again.
      expect(await plane.applyDecisions({ type: 'replace', entries: [] })).toEqual(APPLIED);
      const path = `/.well-known/acme-challenge/${tokens[0]}`;
      expect((await ask({ port, host: 'open.test', path })).json<Echo>().url).toBe(path);
    } finally {
      await agent.close();
      await pebble.stop();
      await origin.stop();
      await node.endServer();
      await node.proxy.stop();
    }
  }));
