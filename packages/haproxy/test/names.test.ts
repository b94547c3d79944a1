import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Echo, type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask, exchange } from '../../../test/support/http-client.ts';
import { askInFrames } from '../../../test/support/http2-frames.ts';

describe('one reading of the name', () => {
  let plane: RunningDataPlane;
  let origin: Origin;
  beforeAll(async () => {
    [plane, origin] = await Promise.all([startDataPlane(), startEchoOrigin('echo')]);
    await plane.serve(
      givenHost({ names: ['public.example.com', '*.wild.example.com'], origin }),
      givenHost({ names: ['secret.example.com'], origin }),
    );
  });
  afterAll(async () => {
    await origin.stop();
    await plane.stop();
  });

  const overHttp1 = (target: string, host: string, headers = ''): Promise<string> =>
    exchange(plane.httpPort, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`);
  const overHttp2 = (authority: string, ...fields: [string, string][]) =>
    askInFrames(plane.httpsPort, [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/'],
      [':authority', authority],
      ...fields,
    ]);
  const seenIn = (answer: string): Echo => JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? answer) as Echo;

  test.each([
    'secret.example.com:,public.example.com',
    'secret.example.com,public.example.com',
    'public.example.com, public.example.com',
    'x@o.wild.example.com',
    'secret.example.com@public.example.com',
    'e"<>.wild.example.com',
    'secret.example.com/.wild.example.com',
    'secret.example.com?.wild.example.com',
    'secret.example.com#.wild.example.com',
    'secret.example.com\\.wild.example.com',
    'secret.example.com\t.wild.example.com',
    'secret.example.com .wild.example.com',
    's%65cret.wild.example.com',
    's\xe9cret.wild.example.com',
    '.wild.example.com',
    'public.example.com..',
    'public.example.com:80:80',
    'public.example.com:65536',
    'public.example.com:8o',
    'public.example.com:-1',
    '[public.example.com]',
    `${'a'.repeat(64)}.wild.example.com`,
    '',
  ])('%j is no name: 400, over HTTP/1.1, in an absolute target and over HTTP/2', async (name) => {
    expect(await overHttp1('/', name)).toMatch(/^HTTP\/1\.1 400 /);
    // In an absolute target HAProxy drops port 80: then one name is left, for the origin as well.
    const absolute = await overHttp1(`http://${name}/`, name);
    if (name.endsWith(':80:80')) expect(seenIn(absolute).headers.host).toBe('public.example.com:80');
    else expect(absolute).toMatch(/^HTTP\/1\.1 400 /);
    // HAProxy 3.0 refuses some of them by itself, without a page.
    const { body, refused } = await overHttp2(name);
    expect(refused || body.includes('400 Bad request')).toBe(true);
  });

  test('a name longer than DNS allows is none', async () => {
    const name = `${'a'.repeat(60)}.`.repeat(5);
    expect(await overHttp1('/', `${name}wild.example.com`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    ['public.example.com', 'public.example.com'],
    ['public.example.com:8080', 'public.example.com:8080'],
    ['public.example.com:0', 'public.example.com:0'],
    ['public.example.com:65535', 'public.example.com:65535'],
    ['PUBLIC.Example.com', 'public.example.com'],
    ['public.example.com.', 'public.example.com'],
    ['public.example.com:', 'public.example.com'],
    ['Public.example.com.:8443', 'public.example.com:8443'],
    ['_dmarc.wild.example.com', '_dmarc.wild.example.com'],
    ['a_b--c.wild.example.com', 'a_b--c.wild.example.com'],
  ])('%s reaches the origin as %s, the name it was routed by', async (name, forwarded) => {
    const answers = [await overHttp1('/', name), await overHttp1(`http://${name}/`, name)];
    for (const answer of [...answers, (await overHttp2(name)).body]) {
      expect(seenIn(answer).headers).toMatchObject({ host: forwarded, 'x-forwarded-host': forwarded });
    }
  });

  test.each([
    ['a second Host', 'Host: secret.example.com\r\n'],
    ['a second Host that is empty', 'Host:\r\n'],
  ])('%s is refused', async (_what, headers) => {
    expect(await overHttp1('/', 'public.example.com', headers)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('over HTTP/2 the authority counts, for the origin as well', async () => {
    for (const host of ['secret.example.com', 'x, secret.example.com']) {
      const { body, refused } = await overHttp2('public.example.com', ['host', host]);
      expect(refused || seenIn(body).headers.host === 'public.example.com').toBe(true);
    }
  });

  test.each([
    'http://secret.example.com/',
    'http://secret.example.com@public.example.com/',
    'http://public.example.com@secret.example.com/',
    'ftp://public.example.com/',
    'public.example.com/x',
    'x',
    '*',
  ])('a target of %s is refused', async (target) => {
    expect(await overHttp1(target, 'public.example.com')).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    ['http://public.example.com/a//b?c=http://d/', '/a//b?c=http://d/'],
    ['HTTP://Public.example.com:80/', '/'],
    ['http://public.example.com', '/'],
    ['//secret.example.com/x', '//secret.example.com/x'],
  ])('a target of %s reaches the origin as %s', async (target, url) => {
    expect(seenIn(await overHttp1(target, 'public.example.com')).url).toBe(url);
  });

  test('OPTIONS may ask about the server', async () => {
    const answer = await exchange(
      plane.httpPort,
      'OPTIONS * HTTP/1.1\r\nHost: public.example.com\r\nConnection: close\r\n\r\n',
    );
    expect(seenIn(answer)).toMatchObject({ method: 'OPTIONS', url: '*' });
  });

  test.each(['0.9', '1.9', '2.0', '3.0'])(
    'whatever version a line of HTTP/1 ends with (%s), a target is a path',
    async (version) => {
      const at = (target: string): Promise<string> =>
        exchange(
          plane.httpPort,
          `GET ${target} HTTP/${version}\r\nHost: public.example.com\r\nConnection: close\r\n\r\n`,
        );
      for (const target of ['http://secret.example.com@public.example.com/', 'ftp://public.example.com/']) {
        expect(await at(target)).toMatch(/^HTTP\/1\.1 400 /);
      }
      expect(await at('/x')).toMatch(version === '0.9' ? /^HTTP\/1\.1 400 / : /^HTTP\/1\.1 200 /);
    },
  );

  test("over HTTP/2, a scheme that is none of the web's is refused", async () => {
    for (const scheme of ['ftp', 'ws', 'HTTPS']) {
      const { body, refused } = await askInFrames(plane.httpsPort, [
        [':method', 'GET'],
        [':scheme', scheme],
        [':path', '/'],
        [':authority', 'public.example.com'],
      ]);
      expect(refused || body.includes('400 Bad request')).toBe(true);
    }
  });

  test('over HTTP/2, too, a target is a path, and a tunnel is refused', async () => {
    const server = await askInFrames(plane.httpsPort, [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '*'],
      ['host', 'public.example.com'],
    ]);
    expect(server.refused || server.body.includes('400 Bad request')).toBe(true);
    const tunnel = await askInFrames(plane.httpsPort, [
      [':method', 'CONNECT'],
      [':authority', 'public.example.com:443'],
    ]);
    expect(tunnel).toMatchObject({ body: expect.stringContaining('405 Method not allowed') });
  });

  test('the name of the TLS handshake chooses the certificate, nothing else', async () => {
    const answer = await ask({ port: plane.httpsPort, host: 'public.example.com', tls: true, headers: {} });
    expect(answer.json<Echo>().headers.host).toBe('public.example.com');
  });

  const controls = [...Array(32).keys(), 127].filter((code) => code !== 9);

  test.each(controls)('character %i in a header is refused, over HTTP/1.1 and HTTP/2', async (code) => {
    for (const value of [`a${String.fromCharCode(code)}b`, `${String.fromCharCode(code)}b`]) {
      const answer = await overHttp1('/', 'public.example.com', `X-Anything: ${value}\r\n`);
      // At the start of a value, CR and LF end the line: what follows is no header either.
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      const { body, refused } = await overHttp2('public.example.com', ['x-anything', value]);
      expect(refused || body.includes('400 Bad request')).toBe(true);
    }
  });

  test('a tab and bytes above ASCII are text', async () => {
    const answer = await overHttp1('/', 'public.example.com', 'X-Anything: a\tb\xe9\r\n');
    expect(Buffer.from(answer, 'latin1').toString()).toContain(JSON.stringify('a\tb\xe9'));
  });
});
