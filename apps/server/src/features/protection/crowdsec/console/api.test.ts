import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createSafeFetch } from '../../../../net/safe-fetch.ts';
import { anywhere } from '../../../../testing/anywhere.ts';
import { CONSOLE, enrolAt } from './api.ts';

const TOKEN = 'an-enrolment-key';
const OK = { status: 200, body: '{"token":"a.b.c"}' };

/** What becomes of an enrolment where the central API answers so: to who makes itself known, signs in and enrols. */
const enrolling = async (...answers: { status: number; body: string | ((asked: string) => string) }[]) => {
  let asked = 0;
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    const { status, body } = answers[asked] ?? OK;
    asked += 1;
    response.writeHead(status).end(typeof body === 'string' ? body : body(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetch = createSafeFetch({
    lookup: async () => [],
    addressPolicy: anywhere,
  });
  const outcome = await enrolAt({ url, fetch }, { token: TOKEN, name: 'edge', tags: [] }).catch(
    ({ status, message }: { status: number; message: string }) => `${status} ${message.replace(url, 'URL')}`,
  );
  return { outcome, asked, url };
};

test('nobody but its makers is told, unless another place is set', () => {
  expect(CONSOLE).toBe('https://api.crowdsec.net');
});

test('any answer of success is one', async () => {
  const { outcome, url } = await enrolling({ status: 201, body: '' }, OK, { status: 299, body: 'no JSON' });
  expect(outcome).toEqual({
    url,
    login: expect.stringMatching(/^[0-9a-f]{48}$/),
    password: expect.stringMatching(/^[A-Za-z0-9]{64}$/),
  });
});

test.each([
  ['takes no new machine: it answers 500', { status: 500, body: '' }],
  ['takes no new machine: it answers 300', { status: 300, body: '[]' }],
  ['takes no new machine: it answers 403', { status: 403, body: '{"message":7}' }],
  ['takes no new machine: it answers 403', { status: 403, body: 'null' }],
  ['takes no new machine: it answers 403: a  b', { status: 403, body: '{"message":"a\\r\\nb"}' }],
])('whom it does not know is not enrolled: %s', async (words, answer) => {
  expect(await enrolling(answer)).toMatchObject({ outcome: `503 The console at URL ${words}`, asked: 1 });
});

test.each(['{}', '{"token":7}', '{"token":""}', '{"token":"a\\r\\nx-forged: b"}'])(
  'without a token to sign in with nobody is enrolled: %s',
  async (body) => {
    const { outcome, asked } = await enrolling(OK, { status: 200, body });
    expect(outcome).toBe('503 The console at URL takes no new machine: it gave no token to sign in with');
    expect(asked).toBe(2);
  },
);

test.each([
  ['422 The console refuses the token: it answers 400', 400],
  ['422 The console refuses the token: it answers 499', 499],
  ['503 The console at URL did not enrol: it answers 500', 500],
  ['503 The console at URL did not enrol: it answers 304', 304],
])('%s', async (words, status) => {
  expect((await enrolling(OK, OK, { status, body: '' })).outcome).toBe(words);
});

test('what it repeats of our secrets is not passed on, nor more than a few words', async () => {
  const told = await enrolling({ status: 400, body: (asked) => JSON.stringify({ message: `${TOKEN} ${asked}` }) });
  expect(told.outcome).toBe(
    '503 The console at URL takes no new machine: it answers 400: … {"machine_id":"…","password":"…"}',
  );
  const long = await enrolling({ status: 400, body: JSON.stringify({ message: 'x'.repeat(1_000) }) });
  expect(long.outcome).toMatch(/400: x{300}$/);
});
