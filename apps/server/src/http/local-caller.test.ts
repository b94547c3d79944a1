import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRoot } from '../../../../test/support/is-root.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';

describe('mode local', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp('sqlite');
  });
  afterAll(() => app.stop());

  /** `fetch` forbids these headers, so the request is made by hand. */
  const statusWith = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(app.url);
      const sent = request({ host: '127.0.0.1', port, path: '/api/v1/proxy-hosts', headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.once('error', reject).end();
    });

  test.each([
    ['nothing special', {}],
    ['localhost', { host: 'localhost:8080' }],
    ['a loopback address', { host: '127.0.0.1' }],
    ['IPv6 loopback', { host: '[::1]:8080' }],
    ['its own origin', { host: 'localhost:8080', origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }],
    ['an address typed into a browser', { 'sec-fetch-site': 'none' }],
  ])('trusts a local caller with %s', async (_what, headers) => {
    expect(await statusWith(headers)).toBe(200);
  });

  test.each([
    ['X-Forwarded-For', { 'x-forwarded-for': '127.0.0.1' }],
    ['X-Forwarded-Host', { 'x-forwarded-host': 'localhost' }],
    ['any X-Forwarded header', { 'x-forwarded-prefix': '/' }],
    ['Forwarded', { forwarded: 'for=127.0.0.1' }],
    ['Via', { via: '1.1 proxy' }],
    ['X-Real-IP', { 'x-real-ip': '127.0.0.1' }],
    ['a header of a tunnel or cloud', { 'cf-connecting-ip': '127.0.0.1' }],
    ["the data plane's marker", { 'x-sallyport-proxied': '1' }],
    ['a foreign host name (DNS rebinding)', { host: 'evil.example.com' }],
    ['a host name that only begins right', { host: 'localhost.evil.example.com' }],
    ['an address with a suffix', { host: '127.0.0.1.evil.example.com' }],
    ['two hosts', { host: 'localhost, evil.example.com' }],
    ['a foreign origin', { host: 'localhost', origin: 'https://evil.example.com' }],
    ['an opaque origin', { host: 'localhost', origin: 'null' }],
    ['another port of this host as origin', { host: 'localhost:8080', origin: 'http://localhost:3000' }],
    ['a cross-site browser request', { 'sec-fetch-site': 'cross-site' }],
    ['a same-site browser request', { 'sec-fetch-site': 'same-site' }],
  ])('does not trust a caller with %s', async (_what, headers) => {
    expect(await statusWith(headers)).toBe(401);
  });

  /** Request lines that no client library writes. */
  const statusOf = async (requestLine: string, headers: string): Promise<number> => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.end(`${requestLine}\r\nHost: 127.0.0.1:8080\r\n${headers}\r\n`);
    return Number(/^HTTP\/1\.1 (\d+)/.exec(await text(socket))?.[1]);
  };

  test('does not trust a request for a proxy, whose Host does not count', async () => {
    const close = 'Connection: close\r\n';
    expect(await statusOf('GET /api/v1/proxy-hosts HTTP/1.1', close)).toBe(200);
    expect(await statusOf('GET http://evil.example/api/v1/proxy-hosts HTTP/1.1', close)).toBe(401);
  });

  test('does not trust what looks like an nginx that adds no headers', async () => {
    expect(await statusOf('GET /api/v1/proxy-hosts HTTP/1.0', 'Connection: close\r\n')).toBe(401);
    expect(await statusOf('GET /api/v1/proxy-hosts HTTP/1.0', '')).toBe(200);
  });
});

/** An account of its own, as Debian's proxies give up root for. */
const WWW_DATA = 33;
test.skipIf(!isRoot).each([
  ['a service', WWW_DATA, 401],
  ['nobody', 65_534, 401],
  ['a person', 1_000, 200],
  ['root', 0, 200],
])(
  'what %s on this host passes on with a chosen Host and no header is trusted by its account',
  async (_who, uid, status) => {
    const app = await startApp('sqlite');
    try {
      const { port } = new URL(app.url);
      const script = 'exec 3<>"/dev/tcp/127.0.0.1/$1"; printf "%b" "$2" >&3; head -n 1 <&3';
      const sent = 'GET /api/v1/proxy-hosts HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n';
      const child = spawn('/bin/bash', ['-c', script, 'bash', port, sent], {
        uid,
        gid: uid,
        cwd: '/',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      expect(await text(child.stdout)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    } finally {
      await app.stop();
    }
  },
);

test('mode required trusts nobody without a credential, mode open everybody', async () => {
  const required = await startApp('sqlite', { SALLYPORT_API_AUTH: 'required' });
  const open = await startApp('sqlite', { SALLYPORT_API_AUTH: 'open' });
  try {
    expect((await required.send('GET', '/proxy-hosts')).status).toBe(401);
    expect((await required.send('GET', '/health')).status).toBe(200);
    // Where the spec has them, and where scrapers look.
    for (const path of ['/metrics', '/api/v1/metrics', '/metrics?collect=all']) {
      const answer = await fetch(`${required.url}${path}`);
      expect(answer.status, path).toBe(200);
      expect(await answer.text(), path).toContain('svc_waf_requests_total');
    }
    expect((await open.send('GET', '/proxy-hosts', undefined, { via: '1.1 x' })).status).toBe(200);
    expect((await open.send('GET', '/settings')).status).toBe(403);
  } finally {
    await required.stop();
    await open.stop();
  }
});
