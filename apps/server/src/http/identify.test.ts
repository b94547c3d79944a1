import type { IncomingMessage } from 'node:http';
import type { UserIdentity } from '@sallyport/store/actor';
import { expect, test } from 'vitest';
import { createIdentify } from './identify.ts';

const user: UserIdentity = {
  kind: 'user',
  id: 1,
  email: 'a@example.com',
  role: 'user',
  sessionId: 's',
  token: null,
  mustEnrolTotp: false,
};
const identify = createIdentify('local', (token) => (token === 'good' ? user : undefined));
const ask = (headers: Record<string, string>, method = 'GET', isLocal = true) =>
  identify(
    { method, headers: { host: 'ui.example', ...headers }, socket: {} } as unknown as IncomingMessage,
    () => isLocal,
  );
const cookie = '__Host-sallyport_session=good';

test('takes the bearer token before the cookie, and the cookie before the local host', async () => {
  expect(await ask({ authorization: 'Bearer good', cookie: 'sallyport_session=bad' })).toBe(user);
  for (const authorization of ['Bearer bad', 'Bearer good more', 'Bearer', 'Basic good', 'x Bearer good', ''])
    await expect(ask({ authorization, cookie }), authorization).rejects.toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    });
  expect(await ask({ authorization: 'bearer  good' })).toBe(user);
  expect(await ask({ cookie })).toBe(user);
  expect(await ask({})).toEqual({ kind: 'local' });
  expect(await ask({}, 'GET', false)).toEqual({ kind: 'anonymous' });
});

test('looks for the local host only where nothing else says who it is', async () => {
  const askUnseen = (mode: 'local' | 'required' | 'open', headers: Record<string, string>) =>
    createIdentify(mode, () => user)({ method: 'GET', headers, socket: {} } as unknown as IncomingMessage, () => {
      throw new Error('looked');
    });
  expect(await askUnseen('local', { authorization: 'Bearer good' })).toBe(user);
  expect(await askUnseen('local', { cookie })).toBe(user);
  for (const mode of ['required', 'open'] as const) expect(await askUnseen(mode, {})).toEqual({ kind: 'anonymous' });
  await expect(askUnseen('local', {})).rejects.toThrow('looked');
});

test('opens no WebSocket for another site, though an upgrade is a GET', async () => {
  const upgrade = { cookie, connection: 'Upgrade', upgrade: 'websocket' };
  await expect(ask({ ...upgrade, origin: 'https://evil.example' })).rejects.toMatchObject({ status: 403 });
  await expect(ask({ ...upgrade, 'sec-fetch-site': 'cross-site' })).rejects.toMatchObject({ status: 403 });
  expect(await ask({ ...upgrade, origin: 'https://ui.example' })).toBe(user);
});

test('takes the word of the browser for its own page, also behind a proxy that rewrites Host', async () => {
  const own = { cookie, origin: 'https://public.example', 'sec-fetch-site': 'same-origin' };
  expect(await ask(own, 'POST')).toBe(user);
  await expect(ask({ ...own, 'sec-fetch-site': 'same-site' }, 'POST')).rejects.toMatchObject({ status: 403 });
});

test('lets no other site change anything in mode open: the network is trusted, not what its browsers show', async () => {
  const open = createIdentify('open', () => undefined);
  const askOpen = (method: string, headers: Record<string, string>) =>
    open(
      { method, headers: { host: 'ui.example', ...headers }, socket: {} } as unknown as IncomingMessage,
      () => false,
    );
  const evil = { origin: 'https://evil.example' };
  await expect(askOpen('POST', evil)).rejects.toMatchObject({ status: 403, message: 'Cross-site request refused' });
  await expect(askOpen('POST', { 'sec-fetch-site': 'cross-site' })).rejects.toMatchObject({ status: 403 });
  expect(await askOpen('GET', evil)).toEqual({ kind: 'anonymous' });
  expect(await askOpen('POST', { origin: 'https://ui.example' })).toEqual({ kind: 'anonymous' });
  expect(await askOpen('POST', {})).toEqual({ kind: 'anonymous' });
});

test('needs no origin for a bearer token, which no browser sends by itself', async () => {
  expect(await ask({ authorization: 'Bearer good', origin: 'https://evil.example' }, 'POST')).toBe(user);
});

test('trusts the local host only in mode local', async () => {
  for (const mode of ['required', 'open'] as const) {
    const request = { method: 'GET', headers: {}, socket: {} } as unknown as IncomingMessage;
    expect(await createIdentify(mode, () => undefined)(request, () => true)).toEqual({ kind: 'anonymous' });
  }
});

test('asks nobody about a token that is longer than any of ours', async () => {
  const careless = createIdentify('local', () => user);
  const headers = { authorization: `Bearer ${'x'.repeat(4_097)}` };
  const request = { method: 'GET', headers, socket: {} } as unknown as IncomingMessage;
  await expect(careless(request, () => true)).rejects.toMatchObject({ status: 401 });
});
