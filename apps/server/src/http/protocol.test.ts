import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../testing/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp('sqlite');
});
afterAll(() => app.stop());

const CRLF = '\r\n';

/** Sends bytes as they are, and reads until the server closes. */
const exchange = async (...parts: (string | Buffer)[]) => {
  const { port } = new URL(app.url);
  const socket = connect(Number(port), '127.0.0.1');
  for (const part of parts) socket.write(part);
  const answer = await text(socket);
  const [head = '', body = ''] = answer.split(CRLF + CRLF);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body };
};

const HOST = `Host: localhost${CRLF}`;
const CLOSE = `Connection: close${CRLF}`;

const post = (body: string | Buffer, headers: string, path = '/api/v1/proxy-hosts') =>
  exchange(
    `POST ${path} HTTP/1.1${CRLF}${HOST}${CLOSE}${headers}Content-Length: ${Buffer.byteLength(body)}${CRLF}${CRLF}`,
    body,
  );

test.each([
  ['no HTTP at all', `BLAH${CRLF}${CRLF}`, 400],
  ['a method that nobody knows', `FOO / HTTP/1.1${CRLF}${HOST}${CRLF}`, 400],
  ['a NUL in a header', `GET / HTTP/1.1${CRLF}${HOST}X: a\0b${CRLF}${CRLF}`, 400],
  ['two lengths', `POST / HTTP/1.1${CRLF}${HOST}Content-Length: 1${CRLF}Content-Length: 2${CRLF}${CRLF}`, 400],
  [
    'a length and chunks',
    `POST / HTTP/1.1${CRLF}${HOST}Content-Length: 1${CRLF}Transfer-Encoding: chunked${CRLF}${CRLF}`,
    400,
  ],
  ['headers that are too long', `GET / HTTP/1.1${CRLF}${HOST}X: ${'a'.repeat(20_000)}${CRLF}${CRLF}`, 431],
  ['a percent sign that encodes nothing', `GET /api/v1/%zz HTTP/1.1${CRLF}${HOST}${CLOSE}${CRLF}`, 400],
  [
    'a part of the path that is too long',
    `GET /api/v1/proxy-hosts/${'a'.repeat(300)} HTTP/1.1${CRLF}${HOST}${CLOSE}${CRLF}`,
    414,
  ],
  ['a request without a host', `GET /api/v1/health HTTP/1.1${CRLF}${CLOSE}${CRLF}`, 400],
  ['an expectation', `GET /api/v1/health HTTP/1.1${CRLF}${HOST}Expect: miracles${CRLF}${CRLF}`, 417],
  [
    'a method of no route, without a content type',
    `QUERY /api/v1/proxy-hosts HTTP/1.1${CRLF}${HOST}${CLOSE}${CRLF}`,
    405,
  ],
])('refuses %s like everything else', async (_what, request, status) => {
  const answer = await exchange(request);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String), code: status });
});

test.each([
  ['plain text', 'text/plain', '{}'],
  ['plain text with JSON as a parameter', 'text/plain; application/json', '{}'],
  ['a form', 'multipart/form-data; boundary=x', '--x--'],
  ['a form without a boundary', 'multipart/form-data', 'x'],
  ['URL-encoded fields', 'application/x-www-form-urlencoded', 'domain=a'],
])('takes %s not for JSON', async (_what, type, body) => {
  const answer = await post(body, `Content-Type: ${type}${CRLF}`);
  expect(JSON.parse(answer.body)).toEqual({ error: 'Content-Type must be application/json', code: 400 });
});

test('takes no plain text where no body is wanted either: another site can send it unasked', async () => {
  const answer = await post('x', `Content-Type: text/plain${CRLF}`, '/api/v1/security/breakglass/generate');
  expect(answer.status).toBe(400);
});

const JSON_TYPE = `Content-Type: application/json${CRLF}`;

test('refuses compressed bodies, what is no JSON, and what is no UTF-8', async () => {
  const compressed = await post(gzipSync('{}'), `${JSON_TYPE}Content-Encoding: gzip${CRLF}`);
  expect(JSON.parse(compressed.body)).toEqual({ error: 'Content-Encoding is not supported', code: 400 });
  expect(JSON.parse((await post('{', JSON_TYPE)).body)).toEqual({ error: 'body must be valid JSON', code: 400 });
  const latin1 = Buffer.from('{"domain":"\u00e4"}', 'latin1');
  expect(JSON.parse((await post(latin1, JSON_TYPE)).body)).toEqual({ error: 'body must be UTF-8', code: 400 });
});

test('ignores the offer to go on in HTTP/2, which some clients make with every request', async () => {
  const offer = `Connection: close, Upgrade, HTTP2-Settings${CRLF}Upgrade: h2c${CRLF}HTTP2-Settings: AAEAAEAAAAIAAAAB${CRLF}`;
  const answer = await exchange(`GET /api/v1/health HTTP/1.1${CRLF}${HOST}${offer}${CRLF}`);
  expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('"status":"ok"') });
});

test('answers a failed WebSocket upgrade with a 400 that says why', async () => {
  const upgrade = `Connection: Upgrade${CRLF}Upgrade: websocket${CRLF}Sec-WebSocket-Version: 13${CRLF}`;
  const key = `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==${CRLF}`;
  const elsewhere = await exchange(`GET /api/v1/health HTTP/1.1${CRLF}${HOST}${upgrade}${key}${CRLF}`);
  expect(JSON.parse(elsewhere.body)).toEqual({ error: 'This path takes no WebSocket upgrade', code: 400 });
  const nowhere = await exchange(`GET /api/v1/logs/live HTTP/1.1${CRLF}${upgrade}${key}${CRLF}`);
  expect(JSON.parse(nowhere.body)).toEqual({ error: 'Host is required', code: 400 });
  const garbled = await exchange(`GET /api/v1/%zz HTTP/1.1${CRLF}${HOST}${upgrade}${key}${CRLF}`);
  expect(garbled.status).toBe(400);
  const unknown = await exchange(`GET /api/v1/nothing HTTP/1.1${CRLF}${HOST}${upgrade}${key}${CRLF}`);
  expect(unknown.status).toBe(404);
  const keyless = await exchange(`GET /api/v1/logs/live HTTP/1.1${CRLF}${HOST}${upgrade}${CRLF}`);
  expect(JSON.parse(keyless.body)).toEqual({ error: expect.stringContaining('Sec-WebSocket-Key'), code: 400 });
});
