import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/free-ports.ts';
import { givenConfig } from '../support/guard/config.ts';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';
import { ask, exchange, statusLine } from '../support/http-client.ts';

const RULES = `SecRuleEngine On
SecRequestBodyAccess On
SecResponseBodyAccess On
SecResponseBodyMimeType text/plain text/html
SecRule ARGS "@contains attack" "id:1001,phase:2,deny,status:403,log,msg:'An attack'"
SecRule RESPONSE_HEADERS:X-Leak "@contains secret" "id:1003,phase:3,deny,status:403,log,msg:'A leak in a header'"
SecAction "id:1005,phase:1,pass,nolog,initcol:ip=%{REMOTE_ADDR}"
SecRule REQUEST_FILENAME "@streq /broken" "id:1006,phase:5,pass,nolog,setvar:ip.broken=+1"
SecRule REQUEST_FILENAME "@streq /plain-again" "id:1007,phase:1,deny,status:403,log,msg:'Seen before',chain"
  SecRule IP:broken "@ge 1"
SecRule RESPONSE_BODY "@contains leaked" "id:1004,phase:4,deny,status:403,log,msg:'A leak'"
`;

const LONG = 'x'.repeat(3_000_000);

const ANSWERS: Readonly<Record<string, (response: ServerResponse, acceptsGzip: boolean) => void>> = {
  '/plain': (response) => response.setHeader('content-type', 'text/html').end('<p>Hello</p>'),
  '/leak': (response) => response.setHeader('content-type', 'text/html').end('<p>leaked</p>'),
  '/late-leak': (response) => response.setHeader('content-type', 'text/html').end(`${'x'.repeat(500_000)}leaked`),
  '/header': (response) => response.setHeader('x-leak', 'secret').setHeader('content-type', 'image/png').end('png'),
  '/picture': (response) => response.setHeader('content-type', 'image/png').end('leaked'),
  '/long': (response) => response.setHeader('content-type', 'text/plain').end(LONG),
  '/gzip': (response, acceptsGzip) => {
    response.setHeader('content-type', 'text/html');
    if (acceptsGzip) response.setHeader('content-encoding', 'gzip');
    response.end(acceptsGzip ? gzipSync('leaked') : 'leaked');
  },
  '/trailers': (response) => {
    response.writeHead(200, { 'content-type': 'text/plain', trailer: 'x-sum', 'transfer-encoding': 'chunked' });
    response.write('body');
    response.addTrailers({ 'x-sum': '7' });
    response.end();
  },
  '/broken': (response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
    response.write('half', () => response.destroy());
  },
  '/nothing': (response) => response.writeHead(204).end(),
};

describe('inspection of answers', () => {
  let guarded: Guarded;
  let origin: Server;
  const methods: string[] = [];

  beforeAll(async () => {
    const port = await freePort();
    origin = createServer((request, response) => {
      methods.push(`${request.method} ${request.url}`);
      const acceptsGzip = /gzip/.test(String(request.headers['accept-encoding'] ?? ''));
      request.resume();
      const answer = ANSWERS[request.url?.split('?', 1)[0] ?? ''];
      if (answer) answer(response, acceptsGzip);
      else response.writeHead(404).end();
    });
    // An application that speaks WebSocket below /socket only; everything else is answered as if nobody had asked.
    origin.on('upgrade', (request, socket) => {
      methods.push(`${request.method} ${request.url}`);
      socket.on('error', () => socket.destroy());
      if (request.url?.startsWith('/socket')) {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nX-Key: 7\r\n\r\nhello ',
        );
        socket.pipe(socket);
      } else socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<p>leaked</p>');
    });
    await new Promise<void>((resolve) => origin.listen(port, '127.0.0.1', resolve));
    guarded = await startGuarded({ config: givenConfig(1, { rules: RULES }) });
    await guarded.serve(
      { origin: { port } as never, flags: { inspect_responses: true } as never },
      { id: 2, names: ['unread.test'], origin: { port } as never },
    );
  });
  afterAll(async () => {
    await guarded.stop();
    origin.closeAllConnections();
    origin.close();
  });

  const get = (path: string, headers: Record<string, string> = {}, host = 'guarded.test') =>
    ask({ port: guarded.httpPort, path, headers, host });

  test('passes an answer that rules have nothing against, also to a form', async () => {
    expect(await get('/plain')).toMatchObject({ status: 200, body: '<p>Hello</p>' });
    const posted = await ask({ port: guarded.httpPort, path: '/plain', body: 'a=1' });
    expect(posted).toMatchObject({ status: 200, body: '<p>Hello</p>' });
    expect(methods).toContain('POST /plain');
    expect((await get('/nothing')).status).toBe(204);
  });

  test.each(['/leak', '/late-leak', '/header', '/gzip'])(
    'refuses %s, and none of it reaches the client',
    async (path) => {
      const answer = await get(path, { 'accept-encoding': 'gzip' });
      expect(answer.status).toBe(403);
      expect(answer.body).not.toContain('leaked');
      expect(answer.headers).not.toHaveProperty('x-leak');
      const reference = String(answer.headers['x-sallyport-reference']);
      await expect
        .poll(() => guarded.told.filter((line) => line.type === 'block'))
        .toContainEqual(expect.objectContaining({ reference, layer: 'waf', monitored: false, status: 403 }));
    },
  );

  test('still refuses requests before the origin sees them', async () => {
    const before = methods.length;
    expect((await get('/plain?q=attack')).status).toBe(403);
    expect(methods).toHaveLength(before);
  });

  test('passes long and unreadable answers on whole, with trailers', async () => {
    expect((await get('/long')).body).toBe(LONG);
    expect((await get('/picture')).body).toBe('leaked');
    expect(await get('/trailers')).toMatchObject({ status: 200, body: 'body' });
  });

  test('an answer that the origin breaks off is none', async () => {
    expect((await get('/broken')).status).toBe(502);
  });

  test('rules about what has happened run also when the origin breaks off', async () => {
    // Each relay keeps its own collections, and which one a request comes to is drawn by lot.
    const judged = () => Promise.all(guarded.guards.map(async (guard) => (await guard.stats()).requests));
    const before = await judged();
    while ((await judged()).some((count, index) => count === before[index])) await get('/broken');
    for (let i = 0; i < 4; i++) expect((await get('/plain-again')).status).toBe(403);
  });

  test('leaves the answers of other hosts alone, whatever the client asks for', async () => {
    const answer = await get('/leak', { 'x-sallyport-inspect': 'response' }, 'unread.test');
    expect(answer).toMatchObject({ status: 200, body: '<p>leaked</p>' });
  });

  const handshake = (path: string, extra = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: guarded.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${extra}\r\n`;

  test.each([
    ['a handshake', handshake('/leak')],
    ['one with a body', `${handshake('/leak', 'Content-Length: 3\r\n')}a=1`],
    ['one in chunks', `${handshake('/leak', 'Transfer-Encoding: chunked\r\n')}3\r\na=1\r\n0\r\n\r\n`],
    ['another protocol', handshake('/leak').replace('websocket', 'h2c')],
    ['no key', handshake('/leak').replace(/Sec-WebSocket-Key.*\r\n/, '')],
  ])('asking for another protocol hides no answer: %s', async (_, request) => {
    const text = await exchange(
      guarded.httpPort,
      request.replace('Host', 'X: y\r\nHost').replace('Connection: Upgrade', 'Connection: Upgrade, close'),
    );
    expect(text).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(text).not.toContain('leaked');
  });

  test('a WebSocket is judged by its handshake, and passes both ways', async () => {
    const said = await new Promise<string>((resolve, reject) => {
      const socket = connect(guarded.httpPort, '127.0.0.1', () => socket.write(handshake('/socket')));
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => {
        const isFirst = text === '';
        text += part;
        if (isFirst) socket.write('and back');
        if (text.includes('and back')) socket.destroy();
      });
      socket.once('error', reject);
      socket.once('close', () => resolve(text));
    });
    expect(said).toMatch(/^HTTP\/1\.1 101 /);
    expect(said).toMatch(/x-key: 7/i);
    expect(said).toMatch(/\r\n\r\nhello and back$/);
    const before = methods.length;
    expect(await statusLine(guarded.httpPort, handshake('/socket?q=attack'))).toMatch(/^HTTP\/1\.1 403 /);
    expect(methods).toHaveLength(before);
  });

  test('only reports in monitor mode', async () => {
    await guarded.configure(givenConfig(2, { rules: RULES, waf: { mode: 'monitor' } }));
    const answer = await get('/leak');
    expect(answer).toMatchObject({ status: 200, body: '<p>leaked</p>' });
    await expect
      .poll(() => guarded.told.filter((line) => line.type === 'block' && line.monitored))
      .toContainEqual(expect.objectContaining({ layer: 'waf', rule_id: 1004 }));
    await guarded.configure(givenConfig(3, { rules: RULES }));
  });
});
