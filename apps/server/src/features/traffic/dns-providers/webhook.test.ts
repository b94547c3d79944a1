import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import type { Named } from '../../../../../../test/support/start-named.ts';
import { signatureOf } from '../../../net/webhook-signature.ts';
import { byUpdate, failureOf, givenDnsWriter, startZones } from '../../../testing/given-dns-writer.ts';
import type { DnsProviderAccess } from './access.ts';

let named: Named;
beforeAll(async () => {
  named = await startZones();
});
afterAll(() => named.stop());

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
  const { writer, challenge, context } = givenDnsWriter(named);
  const one = challenge('led.zone.test');
  // What the hook would have done.
  const set = await writer.open(byUpdate(named), [one], context);
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
  const { writer, challenge, context } = givenDnsWriter(named);
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
  const { writer, challenge, context } = givenDnsWriter(named);
  const nowhere = { ...byHook(), fields: { url: `http://127.0.0.1:${await freePort()}/` } };
  const error = await failureOf(writer.open(nowhere, [challenge('a.zone.test')], context));
  expect(error.message).toBe('The hook could not be called to present _acme-challenge.a.zone.test: connection refused');
});
