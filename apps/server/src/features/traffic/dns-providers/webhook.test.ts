import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import type { Named } from '../../../../../../test/support/start-named.ts';
import { createSafeFetch } from '../../../net/safe-fetch.ts';
import { signatureOf } from '../../../net/webhook-signature.ts';
import { anywhere } from '../../../testing/anywhere.ts';
import { byUpdate, failureOf, givenDnsWriter, startZones } from '../../../testing/given-dns-writer.ts';
import type { DnsProviderAccess } from './access.ts';
import { writeByHook } from './webhook.ts';

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

test('without secrets it has neither token nor signature; of several records each is asked for, and taken away though one is kept', async () => {
  received = [];
  answer = { status: 204, body: '' };
  const fetch = createSafeFetch({ lookup: async (name) => [name], addressPolicy: anywhere });
  const records = ['a', 'b'].map((name) => ({
    domain: `${name}.test`,
    name: `_acme-challenge.${name}.test`,
    value: name,
  }));
  const { signal } = new AbortController();
  const open = await writeByHook({ ...byHook(), secrets: {} }, records, { fetch, signal });
  for (const { headers } of received) {
    expect(Object.keys(headers)).not.toContain('authorization');
    expect(Object.keys(headers)).not.toContain('x-sallyport-signature');
    expect(headers).toMatchObject({ 'user-agent': 'Sallyport-DNS/1.0', 'content-type': 'application/json' });
  }
  // The last that is a yes, and the first that is none.
  for (const status of [200, 299, 300, 404]) {
    answer = { status, body: '' };
    received = [];
    const closing = open.close();
    if (status < 300) await closing;
    else
      expect((await failureOf(closing)).message).toBe(
        `The hook answered cleanup of _acme-challenge.a.test with status ${status}`,
      );
    expect(
      asked()
        .map(({ action, domain }) => `${action} ${domain}`)
        .sort(),
    ).toEqual(['cleanup a.test', 'cleanup b.test']);
  }
});

test('whoever gives up is told why, and what was asked for is taken away', async () => {
  received = [];
  answer = { status: 204, body: '' };
  const fetch = createSafeFetch({ lookup: async (name) => [name], addressPolicy: anywhere });
  const ending = new AbortController();
  ending.abort(new Error('the server stops'));
  const record = { domain: 'a.test', name: '_acme-challenge.a.test', value: 'v' };
  const error = await failureOf(writeByHook(byHook(), [record], { fetch, signal: ending.signal }));
  expect(error.message).toBe('the server stops');
  await expect.poll(() => asked().map(({ action }) => action)).toEqual(['cleanup']);
});

test('that says yes and sets nothing is waited for as long as it names itself, and asked to take away', async () => {
  received = [];
  answer = { status: 204, body: '' };
  const { writer, challenge, context } = givenDnsWriter(named);
  const { waitMs: _given, ...patiently } = context;
  const slow = { ...byHook(), fields: { url, SLOW_PROPAGATION_TIMEOUT: '1' } };
  const error = await failureOf(writer.open(slow, [challenge('unset.zone.test')], patiently));
  expect(error.message).toMatch(/after 1 seconds it is still not seen: .* TXT _acme-challenge\.unset\.zone\.test$/);
  expect(asked().map(({ action }) => action)).toEqual(['present', 'cleanup']);
});

test('that sets the record some time after its yes is waited for, without a word of how long', async () => {
  received = [];
  answer = { status: 204, body: '' };
  const { writer, challenge, context } = givenDnsWriter(named);
  const { waitMs: _given, ...patiently } = context;
  const one = challenge('late.zone.test');
  const opening = writer.open(byHook(), [one], patiently);
  // It has said yes by then, and the zone was looked at.
  await expect.poll(() => received.length).toBe(1);
  const set = await writer.open(byUpdate(named), [one], context);
  const open = await opening;
  expect(asked().map(({ action }) => action)).toEqual(['present']);
  await open.close();
  await set.close();
});
