import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLocalCaller, isSameOrigin } from './local-caller.ts';

let judge: (request: IncomingMessage) => boolean = isLocalCaller;
const server = createServer((asked, response) => void response.end(String(judge(asked))));
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** By hand: clients forbid some of these headers. */
const isLocal = (headers: Record<string, string>): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/x', headers, agent: false }, (response) =>
      text(response).then((said) => resolve(said === 'true'), reject),
    );
    sent.once('error', reject).end();
  });

test.each([
  [{}],
  [{ host: 'localhost' }],
  [{ host: 'LOCALHOST:8080' }],
  [{ host: 'ui.localhost:8080' }],
  [{ host: '127.8.9.10' }],
  [{ host: '[::1]' }],
  [{ host: 'localhost:8080', origin: 'http://LOCALHOST:8080' }],
])('%j is somebody on this machine', async (headers) => {
  expect(await isLocal(headers)).toBe(true);
});

test.each([
  ...['cdn-loop', 'client-ip', 'fastly-client-ip', 'true-client-ip', 'via', 'x-client-ip', 'x-cluster-client-ip'],
  ...['x-envoy-external-address', 'x-host', 'x-original-for', 'x-original-forwarded-for', 'x-original-host'],
  ...['x-original-url', 'x-real-ip', 'x-sallyport-proxied', 'cf-connecting-ip', 'forwarded'],
  ...['x-forwarded', 'x-forwarded-by', 'X-Forwarded-Proto'],
])('whoever adds %s passes on for somebody else', async (name) => {
  expect(await isLocal({ [name]: '' })).toBe(false);
});

test.each([
  'localhost.',
  'localhost:',
  'localhost:123456',
  'localhost:8080:1',
  'notlocalhost',
  'localhost.example.com',
  'localhost@evil.example',
  'evil.example#localhost',
  '10.0.0.1',
  '[::2]',
  '[::1',
  '::1',
  '0.0.0.0',
  '[::ffff:10.0.0.1]',
])('a Host of %j is none of this machine’s', async (host) => {
  expect(await isLocal({ host })).toBe(false);
});

test('a request line for a proxy, and one of HTTP/1.0 that closes, are of something that passes on', async () => {
  const said = async (lines: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.end(`${lines}\r\n\r\n`);
    return (await text(socket)).split('\r\n\r\n')[1]?.match(/true|false/)?.[0] ?? '';
  };
  const close = 'Connection: close';
  expect(await said(`GET / HTTP/1.1\r\nHost: localhost\r\n${close}`)).toBe('true');
  expect(await said(`GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n${close}`)).toBe('false');
  expect(await said(`GET / HTTP/1.0\r\nHost: localhost\r\n${close.toUpperCase()}`)).toBe('false');
  expect(await said('GET / HTTP/1.0\r\nHost: localhost')).toBe('true');
});

test.each([
  [{ host: 'ui.example' }, true],
  [{ host: 'ui.example', origin: 'https://ui.example' }, true],
  [{ host: 'UI.example:8080', origin: 'http://ui.example:8080' }, true],
  [{ host: 'ui.example', 'sec-fetch-site': 'none' }, true],
  [{ host: 'ui.example', 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }, false],
  [{ host: 'ui.example', 'sec-fetch-site': 'cross-site' }, false],
  [{ host: 'ui.example', 'sec-fetch-site': 'same-site', origin: 'https://ui.example' }, false],
  [{ host: 'ui.example', origin: 'null' }, false],
  [{ host: 'ui.example', origin: '' }, false],
  [{ host: 'ui.example', origin: 'https://ui.example:8080' }, false],
])('%j is asked by our own page: %s', async (headers, is) => {
  judge = isSameOrigin;
  try {
    expect(await isLocal(headers as Record<string, string>)).toBe(is);
  } finally {
    judge = isLocalCaller;
  }
});
