import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ErrorBody, OriginTest } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';

let app: TestApp;
let admin: Caller;
let user: Caller;
const origin = createServer((_request, response) => response.writeHead(204).end());
let port: number;

beforeAll(async () => {
  app = await startApp('sqlite');
  const given = createGiven(app);
  [admin, user] = [await given.administrator(), await given.caller()];
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  ({ port } = origin.address() as AddressInfo);
});
afterAll(async () => {
  origin.close();
  await app.stop();
});

const tryOut = (body: object, { headers }: Caller = admin) =>
  app.send<OriginTest & ErrorBody>('POST', '/proxy-hosts/test-origin', body, headers);

test('an origin that answers says so, under an address and a name', async () => {
  for (const forward_host of ['127.0.0.1', 'localhost']) {
    const { status, body } = await tryOut({ forward_host, forward_port: port }, user);
    expect({ status, body }).toMatchObject({ status: 200, body: { reachable: true, status: 204 } });
    expect(body.address).toContain(`:${port}`);
  }
});

test('one that takes connections but speaks otherwise is told apart', async () => {
  const { body } = await tryOut({ forward_scheme: 'https', forward_host: '127.0.0.1', forward_port: port });
  expect(body).toMatchObject({ reachable: true, status: null, error: expect.any(String) });
});

test('nobody there, and no such name, is no answer', async () => {
  const refused = await tryOut({ forward_host: '127.0.0.1', forward_port: await freePort() });
  expect(refused.body).toMatchObject({ reachable: false, status: null, error: 'connection refused' });
  const nameless = await tryOut({ forward_host: 'nobody.invalid', forward_port: 80 });
  expect(nameless.body).toMatchObject({ reachable: false, error: 'the host name does not resolve' });
});

test('what is no origin of an ordinary host is not asked, by whatever name', async () => {
  const own = Number(new URL(app.url).port);
  for (const [forward_host, forward_port] of [
    ['169.254.169.254', 80],
    ['127.0.0.1', own],
    ['localhost', own],
  ] as const) {
    const { status, body } = await tryOut({ forward_host, forward_port });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^forward_host is /) },
    });
  }
  const reserved = { forward_host: '127.0.0.1', forward_port: own, forward_reserved: true };
  expect(await tryOut(reserved, user)).toMatchObject({ status: 400 });
  expect(await tryOut(reserved)).toMatchObject({ status: 200, body: { reachable: true } });
  const wrong = await tryOut({ forward_host: 'http://a', forward_port: 80 });
  expect(wrong).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^forward_host /) } });
});
