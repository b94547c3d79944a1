import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, createSecureServer, createServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { listen } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { exchange } from '../../../test/support/http-client.ts';
import { createSelfSignedCertificate } from '../src/files/self-signed-certificate.ts';

const { certificate: cert, key } = await createSelfSignedCertificate({
  names: ['origin.example.com'],
  validFrom: new Date(Date.now() - 86_400_000),
  validDays: 2,
});

type Arrival = { method: string; url: string; body: string; port: number; headers: IncomingHttpHeaders };

/** Reads each request to its end, then answers it; hangs up on /close, and resets the connection on /reset. */
const hangingUp =
  (arrivals: Arrival[], connections: Map<number, Socket>) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { method = '', url = '', headers } = request;
    const port = request.socket.remotePort ?? 0;
    arrivals.push({ method, url, body, port, headers });
    if (url === '/close') connections.get(port)?.destroy();
    else if (url === '/reset') connections.get(port)?.resetAndDestroy();
    else response.end('served');
  };

type Listener = ReturnType<typeof hangingUp>;

describe.each([
  ['plain', {}, (listener: Listener): Server => createHttpServer(listener)],
  [
    'https',
    { scheme: 'https', sni: 'origin.example.com' },
    (listener: Listener): Server => createHttpsServer({ cert, key }, listener),
  ],
  // Requests and answers of HTTP/2 have what the listener uses of them.
  ['plain HTTP/2', { h2: true }, (listener: Listener): Server => createServer(listener as never)],
  [
    'https with HTTP/2',
    { scheme: 'https', sni: 'origin.example.com', h2: true },
    (listener: Listener): Server => createSecureServer({ cert, key }, listener as never),
  ],
] as const)('behind a host with a %s origin', (_kind, parts, create) => {
  let plane: RunningDataPlane;
  let origin: { port: number; stop(): Promise<void> };
  const arrivals: Arrival[] = [];
  const connections = new Map<number, Socket>();
  let session: ClientHttp2Session;
  beforeAll(async () => {
    const server = create(hangingUp(arrivals, connections));
    // Of TLS, the connection below it.
    server.on('connection', (socket: Socket) => connections.set(socket.remotePort ?? 0, socket));
    [plane, origin] = await Promise.all([startDataPlane({ threads: 1 }), listen(server)]);
    await plane.serve(
      givenHost({ id: 7, names: ['a.example.com'], origin: { port: origin.port, ...parts } }, { hsts_enabled: true }),
      givenHost({ names: ['forced.example.com'], origin: { port: origin.port, ...parts } }, { ssl_forced: true }),
    );
    session = connectHttp2(`https://127.0.0.1:${plane.httpsPort}`, { rejectUnauthorized: false });
  });
  afterAll(async () => {
    session.destroy();
    for (const connection of connections.values()) connection.destroy();
    await plane.stop();
    void origin.stop();
  });

  const overHttp2 = (method: string, path: string, body?: string, authority = 'a.example.com') =>
    new Promise<{ status: number; reference: string; hsts: unknown; body: string }>((resolve, reject) => {
      const stream = session.request(
        { ':method': method, ':path': path, ':authority': authority },
        { endStream: body === undefined },
      );
      let status = 0;
      let reference = '';
      let hsts: unknown;
      let text = '';
      stream.setEncoding('utf8');
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
        hsts = headers['strict-transport-security'];
        reference = String(headers['x-sallyport-reference']);
      });
      stream.on('data', (chunk: string) => {
        text += chunk;
      });
      stream.on('error', reject);
      stream.on('end', () => resolve({ status, reference, hsts, body: text }));
      if (body !== undefined) stream.end(body);
    });

  const inHttp1 = (method: string, path: string, more = '', body = ''): string =>
    `${method} ${path} HTTP/1.1\r\nHost: a.example.com\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;

  const arrivalsFor = (method: string, url: string) =>
    arrivals.filter((arrival) => arrival.method === method && arrival.url === url);

  test.each(['/close', '/reset'])(
    'what ends with %s is answered 502, logged, and run once, over HTTP/2',
    async (path) => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        arrivals.length = 0;
        // Connections to the origin have been used and are free.
        await Promise.all([overHttp2('GET', '/'), overHttp2('GET', '/'), overHttp2('GET', '/')]);
        const answer = await overHttp2(method, path, 'order=1');
        expect(answer.status).toBe(502);
        expect(answer.body).toContain('The site gave no usable answer.');
        expect(arrivalsFor(method, path)).toMatchObject([{ body: 'order=1' }]);
        expect(await plane.haproxy.logged(answer.reference)).toMatchObject({
          status: 502,
          host: 'a.example.com',
          host_id: '7',
          client: '127.0.0.1',
        });
      }
    },
  );

  test('so it is for the second request of an HTTP/1.1 connection, and for a long body', async () => {
    for (const body of ['order=1', 'x'.repeat(200_000)]) {
      arrivals.length = 0;
      const answer = await exchange(
        plane.httpPort,
        inHttp1('GET', '/') + inHttp1('POST', '/close', 'Connection: close\r\n', body),
      );
      expect(answer).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 502 .*The site gave no usable answer/s);
      expect(arrivalsFor('POST', '/close').map((arrival) => arrival.body.length)).toEqual([body.length]);
      const reference = /x-sallyport-reference: (\S+)/i.exec(answer)?.[1] ?? 'none';
      expect(await plane.haproxy.logged(reference)).toMatchObject({ status: 502, host_id: '7' });
    }
  });

  test('what may be repeated shares connections to the origin, over HTTP/1.1 and HTTP/2', async () => {
    arrivals.length = 0;
    const before = connections.size;
    for (let count = 0; count < 5; count++) expect((await overHttp2('GET', '/')).body).toBe('served');
    await exchange(plane.httpPort, `${inHttp1('GET', '/').repeat(4)}${inHttp1('GET', '/', 'Connection: close\r\n')}`);
    expect(arrivals).toHaveLength(10);
    // The first request of an HTTP/1.1 connection never takes a used one; the first of all may find none.
    expect(connections.size - before).toBeLessThanOrEqual(2);
  });

  test('the origin is told about client and TLS as ever, and so is the client', async () => {
    const answer = await overHttp2('POST', '/told', 'x');
    expect(answer).toMatchObject({ body: 'served', hsts: 'max-age=63072000' });
    expect(arrivals.at(-1)).toMatchObject({
      body: 'x',
      headers: {
        'x-real-ip': '127.0.0.1',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'https',
        'x-forwarded-port': String(plane.httpsPort),
      },
    });
    await exchange(plane.httpPort, inHttp1('GET', '/') + inHttp1('POST', '/told', 'Connection: close\r\n', 'y'), {
      address: '::1',
    });
    expect(arrivals.at(-1)).toMatchObject({
      body: 'y',
      headers: { 'x-real-ip': '::1', 'x-forwarded-proto': 'http', 'x-forwarded-port': String(plane.httpPort) },
    });
    const forced = inHttp1('GET', '/') + inHttp1('POST', '/told', 'Connection: close\r\n', 'y');
    expect(await exchange(plane.httpPort, forced.replaceAll('a.example', 'forced.example'))).not.toContain(' 200 ');
    expect((await overHttp2('POST', '/told', 'x', 'forced.example.com')).status).toBe(200);
  });
});
