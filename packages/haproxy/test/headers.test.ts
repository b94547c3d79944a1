import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Echo, type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask, exchange } from '../../../test/support/http-client.ts';
import { dataPlaneFiles } from '../src/config/layout.ts';
import { createAdminSocket } from '../src/runtime/admin-socket.ts';

const forged = {
  'X-Real-IP': '6.6.6.6',
  'X-Forwarded-For': '6.6.6.6',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'evil.example.com',
  'X-Forwarded-Port': '666',
  Forwarded: 'for=6.6.6.6',
  X_Forwarded_For: '6.6.6.6',
  X_Real_IP: '6.6.6.6',
  'X-Sallyport-Proxied': 'no',
};

describe('headers for the origin', () => {
  let plane: RunningDataPlane;
  let origin: Origin;
  beforeAll(async () => {
    [plane, origin] = await Promise.all([startDataPlane(), startEchoOrigin('echo')]);
    await plane.serve(
      givenHost({ names: ['on.example.com'], origin }),
      givenHost({ names: ['sockets.example.com'], origin }, { websocket_support: true }),
      givenHost({ names: ['*.wild.example.com'], origin }),
      givenHost({ names: ['off.example.com'], origin }, { enable_standard_headers: false, websocket_support: true }),
    );
  });
  afterAll(async () => {
    await origin.stop();
    await plane.stop();
  });

  const seen = async (host: string, headers: Record<string, string> = {}, tls = false): Promise<Echo['headers']> =>
    (await ask({ port: tls ? plane.httpsPort : plane.httpPort, host, headers, tls })).json<Echo>().headers;

  test('the standard headers tell the truth, whatever the client sent under their names', async () => {
    expect(await seen('on.example.com', forged)).toMatchObject({
      host: 'on.example.com',
      'x-real-ip': '127.0.0.1',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'on.example.com',
      'x-forwarded-port': String(plane.httpPort),
      'x-sallyport-proxied': expect.stringMatching(/^no, [0-9a-f]{16}\.\d+$/),
    });
  });

  test('over TLS they say so', async () => {
    expect(await seen('on.example.com', {}, true)).toMatchObject({
      'x-forwarded-proto': 'https',
      'x-forwarded-port': String(plane.httpsPort),
    });
  });

  test('nothing forged gets through under any spelling', async () => {
    for (const host of ['on.example.com', 'off.example.com']) {
      expect(JSON.stringify(await seen(host, forged))).not.toMatch(/6\.6\.6\.6|evil|666/);
    }
  });

  test('a request that left the rules early carries the same headers, one field each, as one that met them all', async () => {
    for (const tls of [false, true]) {
      const early = await seen('on.example.com', {}, tls);
      expect(Object.keys(early).filter((name) => name.startsWith('x-'))).toHaveLength(6);
      expect(early).toEqual(await seen('on.example.com', { Forwarded: 'for=6.6.6.6' }, tls));
    }
  });

  test('they are the same from a version of HAProxy that was not tried with all of them in one rule', async () => {
    const file = join(plane.directory, dataPlaneFiles.config);
    const config = readFileSync(file, 'utf8');
    const untried = (version: string) => `backend untouched\n.if version_atleast(${version})`;
    expect(config).toContain(untried('3.1'));
    const before = await seen('on.example.com');
    await plane.haproxy.stop();
    writeFileSync(file, config.replace(untried('3.1'), untried('2.6')));
    await plane.restartHaproxy();
    expect(await seen('on.example.com')).toEqual(before);
    await plane.haproxy.stop();
    writeFileSync(file, config);
    await plane.restartHaproxy();
    expect(await seen('on.example.com')).toEqual(before);
  });

  test('a client cannot have an origin drop them by calling them hop-by-hop', async () => {
    expect(await seen('on.example.com', { Connection: 'close, X-Real-IP, X-Forwarded-For' })).not.toHaveProperty(
      'connection',
      expect.stringMatching(/x-/i),
    );
  });

  test('only a request in whose headers no rule has anything to look for leaves the rules before they do', async () => {
    const socket = createAdminSocket({ path: plane.settings.adminSocket });
    const left = async (headers: Record<string, string>, host = 'on.example.com'): Promise<boolean> => {
      const count = async () => {
        const [row = ''] =
          /^untouched,BACKEND,.*$/m.exec(await socket.ask({ words: ['show', 'stat', '-1', '3', '-1'] })) ?? [];
        return Number(row.split(',')[7]);
      };
      const before = await count();
      expect((await ask({ port: plane.httpPort, host, headers })).status).toBe(200);
      return (await count()) > before;
    };
    const usual = {
      Accept: '*/*',
      Cookie: 'a=b; c="d"',
      Authorization: 'Basic bmVnbw==',
      Connection: 'keep-alive',
      'X-Empty': '',
    };
    expect(await left({})).toBe(true);
    expect(await left({ ...usual, 'X-Text': 'a\tb\xe9', 'X-Forwarded-Prefix': '/a' })).toBe(true);
    expect(await left(usual, 'on.example.com:8080')).toBe(true);
    expect(await left(usual, 'sockets.example.com')).toBe(true);
    expect(await left(usual, 'any.wild.example.com')).toBe(true);
    expect(await left(usual, 'On.example.com')).toBe(false);
    expect(await left(usual, 'off.example.com')).toBe(false);
    for (const name of ['X-Real-IP', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Port'])
      expect(await left({ ...usual, [name]: '' })).toBe(false);
    for (const name of ['Forwarded', 'X-Sallyport-Proxied', 'X-Sallyport-Route', 'Upgrade'])
      expect(await left({ [name]: 'x', ...usual })).toBe(false);
    expect(await left({ Connection: 'close, X-Real-IP' })).toBe(false);
    for (const scheme of ['Negotiate', 'NTLM', 'nTlM', 'Basic x, negotiate'])
      expect(await left({ Authorization: `${scheme} abc` })).toBe(false);
  });

  test('switched off, only the marker goes to the origin', async () => {
    const headers = await seen('off.example.com', forged);
    expect(Object.keys(headers).filter((name) => name.startsWith('x'))).toEqual(['x-sallyport-proxied']);
    expect(headers['x-sallyport-proxied']).toMatch(/^no, [0-9a-f]{16}\.\d+$/);
  });

  test('switched off, an upgrade still carries them', async () => {
    const headers = await seen('off.example.com', {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version': '13',
    });
    expect(headers).toMatchObject({ 'x-real-ip': '127.0.0.1', 'x-forwarded-proto': 'http' });
  });
});

// As many as large networks publish, and more: a line of haproxy.cfg would not hold them.
const publishedRanges = Array.from({ length: 200 }, (_, index) => `198.18.${index}.0/24`);

describe('trusted proxies', () => {
  let plane: RunningDataPlane;
  let origin: Origin;
  beforeAll(async () => {
    [plane, origin] = await Promise.all([
      startDataPlane({ trustedProxies: ['127.0.0.1', '10.0.0.0/8', ...publishedRanges] }),
      startEchoOrigin('echo'),
    ]);
    await plane.serve(
      givenHost({ names: ['a.example.com'], origin }),
      givenHost({ names: ['forced.example.com'], origin }, { ssl_forced: true }),
    );
  });
  afterAll(async () => {
    await origin.stop();
    await plane.stop();
  });

  const realIp = async (forwardedFor: string | undefined, address = '127.0.0.1'): Promise<unknown> => {
    const headers = forwardedFor === undefined ? {} : { 'X-Forwarded-For': forwardedFor };
    return (await ask({ port: plane.httpPort, host: 'a.example.com', headers, address })).json<Echo>().headers[
      'x-real-ip'
    ];
  };

  test('the client address is the rightmost one that no trusted proxy has', async () => {
    expect(await realIp('203.0.113.7')).toBe('203.0.113.7');
    expect(await realIp('6.6.6.6, 203.0.113.7, 10.1.2.3')).toBe('203.0.113.7');
    expect(await realIp('2001:db8::1')).toBe('2001:db8::1');
    expect(await realIp(undefined)).toBe('127.0.0.1');
    expect(await realIp('rubbish')).toBe('127.0.0.1');
    expect(await realIp('6.6.6.6, rubbish')).toBe('127.0.0.1');
    expect(await realIp('6.6.6.6, rubbish, 10.1.2.3')).toBe('10.1.2.3');
  });

  test('another peer is not believed', async () => {
    expect(await realIp('203.0.113.7', '::1')).toBe('::1');
  });

  test('the chain is continued for the origin', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' };
    const { headers: seen } = (await ask({ port: plane.httpPort, host: 'a.example.com', headers })).json<Echo>();
    expect(seen).toMatchObject({ 'x-forwarded-for': '203.0.113.7, 127.0.0.1', 'x-forwarded-proto': 'https' });
  });

  test("of several protocols in the header, the last one is the trusted proxy's word", async () => {
    const asked = { port: plane.httpPort, host: 'forced.example.com' };
    const statusWith = async (proto: string | string[]) =>
      (await ask({ ...asked, headers: { 'X-Forwarded-Proto': proto } })).status;
    expect(await statusWith('https, http')).toBe(308);
    expect(await statusWith(['https', 'http'])).toBe(308);
    const plain = { port: plane.httpPort, host: 'a.example.com' };
    for (const proto of ['http, https', ['http', 'https'], 'HTTPS']) {
      expect(await statusWith(proto)).toBe(200);
      const answer = await ask({ ...plain, headers: { 'X-Forwarded-Proto': proto } });
      expect(answer.json<Echo>().headers['x-forwarded-proto']).toBe('https');
    }
  });

  test('TLS that a trusted proxy ended counts as TLS', async () => {
    const asked = { port: plane.httpPort, host: 'forced.example.com' };
    expect((await ask({ ...asked, headers: { 'X-Forwarded-Proto': 'https' } })).status).toBe(200);
    expect((await ask({ ...asked, headers: { 'X-Forwarded-Proto': 'https' }, address: '::1' })).status).toBe(308);
  });
});

describe('PROXY protocol', () => {
  let plane: RunningDataPlane;
  let origin: Origin;
  beforeAll(async () => {
    [plane, origin] = await Promise.all([
      startDataPlane({ trustedProxies: ['127.0.0.1'], proxyProtocol: true }),
      startEchoOrigin('echo'),
    ]);
    await plane.serve(
      givenHost({ names: ['a.example.com'], origin }),
      givenHost({ names: ['forced.example.com'], origin }, { ssl_forced: true }),
    );
  });
  afterAll(async () => {
    await origin.stop();
    await plane.stop();
  });

  const requestTo = (host: string, headers = '') =>
    `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`;
  const request = requestTo('a.example.com');
  const header = 'PROXY TCP4 203.0.113.9 192.0.2.1 40000 80\r\n';

  test('a trusted proxy tells the client address', async () => {
    expect(await exchange(plane.httpPort, header + request)).toContain('"x-real-ip":"203.0.113.9"');
  });

  test('it tells the origin the client address, too, and nothing that the client wrote', async () => {
    // Such a proxy passes bytes on: every header is the client's own.
    const forged = 'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n';
    const answer = await exchange(plane.httpPort, header + requestTo('a.example.com', forged));
    expect(answer).toContain('"x-real-ip":"203.0.113.9"');
    expect(answer).toContain('"x-forwarded-for":"203.0.113.9"');
    expect(answer).toContain('"x-forwarded-proto":"http"');
    expect(await exchange(plane.httpPort, header + requestTo('forced.example.com', forged))).toMatch(
      /^HTTP\/1\.1 308 /,
    );
  });

  test('behind it, a trusted proxy that speaks HTTP is still believed', async () => {
    const chained = 'PROXY TCP4 127.0.0.1 192.0.2.1 40000 80\r\n';
    const answer = await exchange(
      plane.httpPort,
      chained + requestTo('a.example.com', 'X-Forwarded-For: 203.0.113.7\r\n'),
    );
    expect(answer).toContain('"x-real-ip":"203.0.113.7"');
  });

  test('anybody else connects without the header, and cannot use it', async () => {
    expect(await exchange(plane.httpPort, request, { address: '::1' })).toContain('"x-real-ip":"::1"');
    expect(await exchange(plane.httpPort, header + request, { address: '::1' })).toMatch(/^HTTP\/1\.[01] 400 /);
  });
});
