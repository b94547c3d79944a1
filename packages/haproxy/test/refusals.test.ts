import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../test/support/free-ports.ts';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { listen, type Origin, startEchoOrigin, startOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { type Answer, ask, exchange } from '../../../test/support/http-client.ts';

const referencePattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe("the proxy's own answers", () => {
  let plane: RunningDataPlane;
  let origin: Origin;
  let garbage: { port: number; stop(): Promise<void> };
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    [plane, origin] = await Promise.all([startDataPlane(), startEchoOrigin('echo')]);
    garbage = await listen(
      createServer((socket) => {
        sockets.add(socket);
        // HAProxy resets the connection once it has seen enough.
        socket.on('error', () => socket.destroy());
        socket.on('data', () => socket.end('this is no HTTP\r\n\r\n'));
      }),
    );
    await plane.serve(
      givenHost({ names: ['ok.example.com'], origin }),
      givenHost({ names: ['lenient.example.com'], origin }, { block_exploits: false }),
      givenHost({ names: ['dead.example.com'], origin: { port: await freePort() } }),
      givenHost({ names: ['garbage.example.com'], origin: garbage }),
    );
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all([origin.stop(), garbage.stop()]);
    await plane.stop();
  });

  const get = (host: string, headers: Record<string, string> = {}, path = '/'): Promise<Answer> =>
    ask({ port: plane.httpPort, host, headers, path });

  test.each([
    ['nobody.example.org', 404],
    ['garbage.example.com', 502],
    ['dead.example.com', 503],
  ])('%s is answered %i, in HTML or JSON, with a reference', async (host, status) => {
    const html = await get(host, { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(html.status).toBe(status);
    expect(html.headers['content-type']).toBe('text/html; charset=utf-8');
    const reference = String(html.headers['x-sallyport-reference']);
    expect(reference).toMatch(referencePattern);
    expect(html.body).toContain(`<code>${reference}</code>`);
    expect(html.body).toMatch(/^<!doctype html>.*<\/html>$/s);
    expect(html.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    });

    const json = await get(host, { Accept: 'application/json' });
    expect(json.status).toBe(status);
    expect(json.headers['content-type']).toBe('application/json');
    const body = json.json<{ error: string; code: number; reference: string }>();
    expect(body).toEqual({ error: expect.any(String), code: status, reference: json.headers['x-sallyport-reference'] });
    expect(body.reference).toMatch(referencePattern);
    expect(body.reference).not.toBe(reference);
  });

  test('each request of a connection has a reference of its own', async () => {
    const head = 'GET / HTTP/1.1\r\nHost: nobody.example.org\r\n';
    const answers = await exchange(plane.httpPort, `${`${head}\r\n`.repeat(9)}${head}Connection: close\r\n\r\n`);
    const references = [...answers.matchAll(/^x-sallyport-reference: (\S+)/gim)].map(([, reference]) => reference);
    expect(references).toHaveLength(10);
    expect(new Set(references).size).toBe(10);
    for (const reference of references) expect(reference).toMatch(referencePattern);
  });

  test('a refusal is logged under its reference, and nothing a client writes breaks the log line', async () => {
    const answer = await get('ok.example.com', {}, '/%22%0a/<script>?"}{');
    expect(answer.status).toBe(403);
    const reference = String(answer.headers['x-sallyport-reference']);
    expect(await plane.haproxy.logged(reference)).toMatchObject({
      client: '127.0.0.1',
      status: 403,
      refused: 'exploit',
      host: 'ok.example.com',
      method: 'GET',
      decision: '-',
      uri: '/%22%0a/<script>?"}{',
      reference,
    });
  });

  test('a method with odd characters stays a method: no other field of the log can be written with it', async () => {
    const forged = 'GET|1e2ddd71-b0cb-4876-9263-26eb9e6221dd|elsewhere|';
    const head = `${forged} /.env?a:b|c HTTP/1.1\r\nHost: ok.example.com\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(plane.httpPort, head);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    const reference = /x-sallyport-reference: (\S+)/i.exec(answer)?.[1] ?? 'none';
    expect(await plane.haproxy.logged(reference)).toMatchObject({
      status: 403,
      refused: 'exploit',
      decision: '-',
      uri: '/.env?a:b|c',
    });
  });

  test("an origin's own error pages are left alone", async () => {
    const teapot = await startOrigin('teapot', (_request, response) => {
      response.writeHead(503, { 'content-type': 'text/plain', 'x-sallyport-reference': 'not-ours' });
      response.end('mine');
    });
    await plane.serve(givenHost({ names: ['own.example.com'], origin: teapot }));
    const answer = await get('own.example.com', { Accept: 'application/json' });
    expect(answer).toMatchObject({ status: 503, body: 'mine' });
    expect(answer.headers['content-type']).toBe('text/plain');
    await teapot.stop();
  });

  test('what is logged without a page of ours has a reference as well, each its own', async () => {
    const teapot = await startOrigin('teapot', (_request, response) => response.writeHead(503).end('mine'));
    await plane.serve(givenHost({ names: ['logged.example.com'], origin: teapot }));
    const lines = () =>
      plane.haproxy
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{') && line.includes('"logged.example.com"'));
    await Promise.all([get('logged.example.com'), get('logged.example.com')]);
    await expect.poll(() => lines().length).toBe(2);
    const references = lines().map((line) => (JSON.parse(line) as { reference: string }).reference);
    for (const reference of references) expect(reference).toMatch(referencePattern);
    expect(new Set(references).size).toBe(2);
    await teapot.stop();
  });

  test.each([
    '/../../etc/passwd',
    '/static/..%2f..%2fetc/passwd',
    '/%2e%2e/%2e%2e/x',
    '/%252e%252e%252fx',
    '/..%5c..%5cwindows/win.ini',
    '/.env',
    '/.git/config',
    '/.aws/credentials',
    '/wp-config.php.bak',
    '/?q=1%20UNION%20SELECT%20password',
    '/?q=1+union+all+select+1',
    '/?q=<script>alert(1)</script>',
    '/?q=%3Cscript%3Ealert(1)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the probe is spelled like this
    '/?x=${jndi:ldap://evil/a}',
    '/?x=%24%7Bjndi:ldap://evil/a%7D',
    '/?GLOBALS[x]=1',
    '/?f=base64_decode(aGk=)',
    '/?f=php://input',
    '/?a=b%00.png',
    '/?a=%0d%0aSet-Cookie:x',
    '/?bad=%zz&q=%3Cscript%3Ealert(1)',
    '/?q=%3Cscript%3E&bad=%',
    '/?a=%25&b=%3Cscript%3Ealert(1)',
    '/vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php',
    '/cgi-bin/test.sh',
    '/?id=1;sleep(5)',
    '/?c=;cat+/etc/hosts',
    '/.env;x',
    '/.env%20',
    '/.env%09',
    '/.env%3bx',
    '/.env%253b',
    '/.env%',
    '/.env%zz',
    '/.env:$DATA',
    '/.env-prod',
    '/.env_old',
    '/.env1',
    '/.env,',
    '/.ENV.bak',
    '/.%65nv?bad=%zz',
    '/%2eenv?bad=%',
    '/%252e%2565nv',
    '//.env',
    '/./.env',
    '/x/..;/.git/HEAD',
    '/x%5c.git%5cHEAD',
    '/x/..;/admin',
    '/x/..%20/admin',
    '/x/..%3b/admin',
    '/x/..%00',
    '/x/..#'.slice(0, -1),
    '/x/%c0%ae%c0%ae%c0%afetc',
    '/x/..%c1%9cwinnt',
    '/x/%25c0%25ae/y',
    '/x/%u002e%u002e%u2215y',
    '/etc//passwd',
    '/etc/./shadow',
    '/x?f=%5cetc%5cpasswd',
    '/?q=1%20union/*%20a%20*/select/**/1',
    '/?q=1+union/**/all/**/select+1',
    '/?q=1+union+distinct+select+1',
    '/?q=union%0aselect%0a1',
    '/?q=%zz%3Cscript%3E',
    '/id_rsa;x',
    '/id_ecdsa',
  ])('block_exploits refuses %s, and only where it is on', async (path) => {
    expect((await get('ok.example.com', {}, path)).status).toBe(403);
    expect((await get('lenient.example.com', {}, path)).status).toBe(200);
  });

  test.each(['/', '"', 'é', 'x'])(
    'a refused request of more than 8 kB of %s has a whole line, with a mark where it was cut',
    async (letter) => {
      const path = `/.env?${letter.repeat(12_000 / Buffer.byteLength(letter))}`;
      const answer = await exchange(
        plane.httpPort,
        `GET ${Buffer.from(path).toString('latin1')} HTTP/1.1\r\nHost: ok.example.com\r\nConnection: close\r\n\r\n`,
      );
      const reference = /x-sallyport-reference: (\S+)/i.exec(answer)?.[1] ?? '';
      // Raw bytes above ASCII are no URL.
      if (letter === 'é') return expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      const line = await plane.haproxy.logged(reference);
      expect(line).toMatchObject({ refused: 'exploit', method: 'GET', host: 'ok.example.com' });
      expect(line.uri).toBe(`${path.slice(0, 4_000)}…`);
    },
  );

  test.each([
    '/',
    '/index.html?next=/a/b&u=https://example.com/x',
    '/blog/union-square-selection?select=all',
    '/a..b/c?range=1..2',
    '/search?q=script+writing+and+system+design',
    '/api/v1/items?filter=name%20eq%20%27o%27&sort=-id',
    '/files/report%20%281%29.pdf',
    '/environment/.well-known/acme-challenge/token',
    '/oauth/callback?code=abc%2Fdef%3D%3D&state=a;b',
    '/etc/hosting',
    '/?discount=50%',
    '/?q=100%25',
    '/.environment',
    '/.github/workflows',
    '/.well-known/security.txt',
    '/x/..well-known/a',
    '/x...y/..z',
    '/?q=Citt%C3%A0&r=%E0%A4%B9&s=%F0%9F%98%80',
    '/?q=union+of+all+selected+items',
    '/?unionselect=reunion/select',
    '/id_rsa.pub',
    '/?tpl=$(x',
    '/?rate=5%&x=%zz',
  ])('block_exploits leaves %s alone', async (path) => {
    expect((await get('ok.example.com', {}, path)).status).toBe(200);
  });

  test.each(['a', '%61', '%', '%zz', 'union/*', 'union/**/', 'onload=a', '$(a', '/cgi-bin/a', '<////'])(
    'block_exploits finds a probe behind 13 kB of %s',
    async (filler) => {
      const path = `/?${filler.repeat(13_000 / filler.length)}`;
      for (const probe of ['&q=<script>', '&q=%3Cscript%3E', '/..%2f'])
        expect((await get('ok.example.com', {}, `${path}${probe}`)).status).toBe(403);
      expect((await get('ok.example.com', {}, path)).status).toBe(200);
    },
  );

  test.each([
    ['CONNECT', 'CONNECT ok.example.com:443 HTTP/1.1\r\nHost: ok.example.com:443\r\n\r\n', 405],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: ok.example.com\r\n\r\n', 405],
    ['TRACE with a name in capitals', 'TRACE / HTTP/1.1\r\nHost: OK.example.com\r\nX-Real-IP: 1\r\n\r\n', 405],
    ['TRACE in lower case', 'trace / HTTP/1.1\r\nHost: ok.example.com\r\n\r\n', 405],
    ['CONNECT in two cases', 'Connect / HTTP/1.1\r\nHost: ok.example.com\r\n\r\n', 405],
    ['no host', 'GET / HTTP/1.0\r\n\r\n', 400],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: ok.example.com\r\nHost: lenient.example.com\r\n\r\n', 400],
    [
      'a target that contradicts the host',
      'GET http://lenient.example.com/ HTTP/1.1\r\nHost: ok.example.com\r\n\r\n',
      400,
    ],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: ok.example.com\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef',
      400,
    ],
    [
      'an unknown transfer coding',
      'POST / HTTP/1.1\r\nHost: ok.example.com\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: ok.example.com\r\nX-A: b\r\n c\r\nX-B : c\r\n\r\n', 400],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: ok.example.com\r\nX-A: \0\r\n\r\n', 400],
    ['HTTP/0.9', 'GET /\r\n\r\n', 400],
    ['headers over the buffer', `GET / HTTP/1.1\r\nHost: ok.example.com\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`, 400],
  ])('%s never reaches an origin', async (_case, bytes, status) => {
    const answer = await exchange(plane.httpPort, bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.[01] ${status} `));
    expect(answer).not.toContain('"origin":"echo"');
  });
});
