import { expect, test } from 'vitest';
import { newAccountKey } from '../../test/account-key.ts';
import type { AcmeResponse } from '../model/transport.ts';
import { readAccountKey } from './account-key.ts';
import type { Ask } from './ask.ts';
import { CHAIN_TYPE, createConnection } from './connection.ts';

const CA = 'https://ca.example';
const ACCOUNT = `${CA}/account/1`;

/** A connection to an authority whose posts are answered with this, and what it is asked. */
const given = (said: Partial<AcmeResponse> & { type?: string } = {}) => {
  const asked: Parameters<Ask>[0][] = [];
  const answered = (body: string, { type = 'application/json', status = 200 } = {}): AcmeResponse => ({
    ...{ status, body },
    headers: new Headers({ 'content-type': type, 'replay-nonce': `nonce-${asked.length}` }),
  });
  const ask: Ask = async (request) => {
    asked.push(request);
    if (request.url === `${CA}/directory`) {
      const names = ['newNonce', 'newAccount', 'newOrder', 'revokeCert'];
      return answered(JSON.stringify(Object.fromEntries(names.map((name) => [name, `${CA}/${name}`]))));
    }
    return request.method === 'HEAD' ? answered('') : answered(said.body ?? '{}', said);
  };
  const directoryUrl = new URL(`${CA}/directory`);
  const connection = createConnection({
    directoryUrl,
    key: readAccountKey(newAccountKey()),
    ask,
    clock: () => new Date(),
  });
  return { asked, connection };
};

test('a post is signed with a nonce that was asked for, and after it with those that answers bring', async () => {
  const { asked, connection } = given();
  await connection.post(`${CA}/newOrder`, { a: 1 }, ACCOUNT);
  await connection.post(`${CA}/order/1`, undefined, ACCOUNT, CHAIN_TYPE).catch(() => {});
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
    ...['GET', 'HEAD'].map((method) => `${method} ${CA}/${method === 'GET' ? 'directory' : 'newNonce'}`),
    ...['newOrder', 'order/1'].map((path) => `POST ${CA}/${path}`),
  ]);
  const [, , first, second] = asked;
  expect(first?.headers).toEqual({
    'content-type': 'application/jose+json',
    accept: 'application/json, application/problem+json',
  });
  expect(second?.headers.accept).toBe(`${CHAIN_TYPE}, application/problem+json`);
  const headerOf = (body = '{}') => JSON.parse(Buffer.from(JSON.parse(body).protected, 'base64url').toString());
  expect(headerOf(first?.body)).toMatchObject({ nonce: 'nonce-2', url: `${CA}/newOrder`, kid: ACCOUNT });
  expect(headerOf(second?.body)).toMatchObject({ nonce: 'nonce-3', url: `${CA}/order/1` });
});

test('an answer of another type is not read, unless there is nothing in it', async () => {
  const post = (said: Parameters<typeof given>[0], accept?: string) =>
    given(said).connection.post(`${CA}/newOrder`, {}, ACCOUNT, accept);
  await expect(post({ body: '<h1>It works!</h1>', type: 'text/html' })).rejects.toThrow('type "text/html" instead of');
  await expect(post({ body: '{}' }, CHAIN_TYPE)).rejects.toThrow(`instead of ${CHAIN_TYPE}`);
  expect(await post({ body: '', type: 'text/html' })).toMatchObject({ status: 200, body: '' });
  expect(await post({ body: '{}', type: 'application/json; charset=utf-8' })).toMatchObject({ body: '{}' });
});
