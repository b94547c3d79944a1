import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { freePort } from '../../../../test/support/free-ports.ts';
import { askSite, getSite, type ProxyDoor } from './ask-site.ts';
import { SafeFetchError } from './safe-fetch.ts';

const open: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await Promise.all(open.splice(0).map((server) => new Promise((done) => server.close(done))));
});

const doorOf = async (server: Server, more: Partial<ProxyDoor> = {}): Promise<ProxyDoor> => {
  open.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: '127.0.0.1', port: (server.address() as AddressInfo).port, isTls: false, ...more };
};
const serving = (listener: RequestListener) => doorOf(createHttpServer(listener));
const patience = () => AbortSignal.timeout(60_000);

test('asks by the name, with HEAD and GET, and follows nothing', async () => {
  const asked: string[] = [];
  const door = await serving(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers.host}`);
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  const { get, head, greeting } = await askSite(door, 'a.example.com', patience());
  expect(asked).toEqual(['GET / a.example.com', 'HEAD / a.example.com']);
  expect([get.status, head.status, get.headers.location]).toEqual([302, 302, '/elsewhere']);
  expect(greeting).toBeUndefined();
});

test('asks like a browser that takes everything and unpacks gzip', async () => {
  let sent: unknown;
  const door = await serving(({ headers }, response) => {
    sent = headers;
    response.end();
  });
  await getSite(door, '2001:db8::1', patience(), '/path');
  expect(sent).toMatchObject({
    host: '[2001:db8::1]',
    accept: '*/*',
    'accept-encoding': 'gzip',
    'user-agent': expect.stringContaining('Mozilla/5.0'),
  });
});

test('tells the certificate for the name, whoever signed it, and whether HTTP/2 is offered', async () => {
  const { certificate, key } = makeCertificate(['a.example.com']);
  const names: string[] = [];
  const SNICallback = (name: string, done: (error: null) => void) => {
    names.push(name);
    done(null);
  };
  const secure = createSecureServer({ cert: certificate, key, allowHTTP1: true, SNICallback }, (_, response) =>
    response.end('secret'),
  );
  const door = await doorOf(secure, { isTls: true });
  const { get, greeting } = await askSite(door, 'a.example.com', patience());
  expect(get.body?.toString()).toBe('secret');
  expect(greeting).toMatchObject({ offersHttp2: true });
  expect(greeting?.certificate?.subject).toBe('CN=a.example.com');
  expect(new Set(names)).toEqual(new Set(['a.example.com']));
});

test('unpacks what is packed, and leaves what is too large or no gzip', async () => {
  const bodies: Record<string, Buffer> = {
    'packed.example.com': gzipSync('content'),
    'bomb.example.com': gzipSync(Buffer.alloc(64 * 1024 * 1024)),
    'broken.example.com': Buffer.from('no gzip'),
    'large.example.com': Buffer.alloc(1024 * 1024),
  };
  const door = await serving(({ headers }, response) => {
    const host = String(headers.host);
    if (!host.startsWith('large.')) response.setHeader('content-encoding', 'gzip');
    response.end(bodies[host]);
  });
  const bodyOf = async (name: string) => (await getSite(door, name, patience())).body?.toString();
  expect(await bodyOf('packed.example.com')).toBe('content');
  expect(await bodyOf('bomb.example.com')).toBeUndefined();
  expect(await bodyOf('broken.example.com')).toBeUndefined();
  expect(await bodyOf('large.example.com')).toBeUndefined();
});

test('begins with the header that a listener awaits', async () => {
  const answering = createServer((socket) => {
    socket.once('data', (chunk) => {
      const isRight = chunk.toString().startsWith('PROXY UNKNOWN\r\n');
      socket.end(`HTTP/1.1 ${isRight ? 200 : 400} X\r\nContent-Length: 0\r\n\r\n`);
    });
  });
  const door = await doorOf(answering, { preface: 'PROXY UNKNOWN\r\n' });
  expect((await getSite(door, 'a.example.com', patience())).status).toBe(200);
});

test.each([
  ['says nothing', '', false],
  ['speaks something else', '220 mail.example.com ESMTP\r\n', false],
  ['ends in the middle', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', true],
  ['has endless headers', `HTTP/1.1 200 OK\r\n${'X-Long: 1\r\n'.repeat(50_000)}`, false],
  ['switches protocols', 'HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', false],
])('a server that %s is a failure in words', async (_, text, ends) => {
  const door = await doorOf(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => (ends ? socket.end(text) : socket.write(text)));
    }),
  );
  const cut = text === '' ? AbortSignal.timeout(200) : patience();
  await expect(getSite(door, 'a.example.com', cut)).rejects.toThrow(SafeFetchError);
});

test('plain HTTP where TLS is awaited, and nobody at all, are failures as well', async () => {
  const door = await serving((_, response) => response.end());
  await expect(askSite({ ...door, isTls: true }, 'a.example.com', patience())).rejects.toThrow(SafeFetchError);
  const left = { ...door, port: await freePort() };
  await expect(getSite(left, 'a.example.com', patience())).rejects.toThrow('connection refused');
});
