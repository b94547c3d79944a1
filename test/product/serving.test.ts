import { readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { Agent, createServer as createHttpsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type {
  Certificate,
  ErrorBody,
  LogEntry,
  ProxyHost,
  ReplacedCertificate,
  TrafficFigures,
  UploadedCertificate,
} from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createApiCaller } from '../support/call-api.ts';
import { makeCertificate, uploadForm } from '../support/certificates.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { until } from '../support/until.ts';

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
};

/** Answers with what it was sent, so that a test sees what the proxy passed on. */
const echo = (incoming: IncomingMessage): string =>
  JSON.stringify({ method: incoming.method, url: incoming.url, headers: incoming.headers });

describe('a host from the API to the browser', () => {
  let product: Product;
  let origin: Server;
  let tlsOrigin: Server;
  let originPort: number;
  let tlsOriginPort: number;

  beforeAll(async () => {
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    product = createProduct({ api, http, https });
    origin = createServer((incoming, response) => response.end(echo(incoming)));
    origin.on('upgrade', (incoming, socket) => {
      socket.end(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n${echo(incoming)}`,
      );
    });
    originPort = await listen(origin);
    const { certificate, key } = makeCertificate(['origin.test']);
    tlsOrigin = createHttpsServer({ cert: certificate, key }, (incoming, response) => response.end(echo(incoming)));
    tlsOriginPort = await listen(tlsOrigin);
    await product.start();
  });

  afterAll(async () => {
    await product.stop('SIGTERM');
    await product.remove();
    origin.close();
    tlsOrigin.close();
  });

  const { send: call } = createApiCaller(() => product.api);

  const create = async (fields: Partial<ProxyHost> & { domain: string }): Promise<ProxyHost> => {
    const { status, body } = await call<ProxyHost>('POST', '/proxy-hosts', {
      forward_host: '127.0.0.1',
      forward_port: originPort,
      ...fields,
    });
    expect(body).toMatchObject({ applied: true, issue: null });
    expect(status).toBe(201);
    return body;
  };

  const through = (host: string, path = '/', headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: product.ports.http, path, headers: { host, ...headers } });
      const collect = (response: IncomingMessage) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      };
      sent.once('response', collect).once('error', reject).end();
      sent.once('upgrade', (response, _socket, head) =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: head.toString() }),
      );
    });

  const overTls = (servername: string): Promise<{ status: number; subject: string }> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: product.ports.https,
        servername,
        rejectUnauthorized: false,
        agent: false,
      };
      httpsRequest({ ...options, headers: { host: servername } }, (response) => {
        const subject = (
          response.socket as never as { getPeerCertificate(): { subject: { CN: string } } }
        ).getPeerCertificate().subject.CN;
        response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, subject }));
      })
        .once('error', reject)
        .end();
    });

  test('is live when the API answers, changes when it says so, and is gone when it is deleted', async () => {
    const host = await create({ domain: 'live.test' });
    expect(JSON.parse((await through('live.test', '/a?b=c')).body)).toMatchObject({ method: 'GET', url: '/a?b=c' });
    await call('PUT', `/proxy-hosts/${host.uuid}`, { domain: 'moved.test' });
    expect((await through('live.test')).status).toBe(404);
    expect((await through('moved.test')).status).toBe(200);
    await call('PUT', `/proxy-hosts/${host.uuid}`, { enabled: false });
    expect((await through('moved.test')).status).toBe(404);
    await call('PUT', `/proxy-hosts/${host.uuid}`, { enabled: true });
    expect((await through('moved.test')).status).toBe(200);
    await call('DELETE', `/proxy-hosts/${host.uuid}`);
    expect((await through('moved.test')).status).toBe(404);

    const metrics = async () => (await fetch(`${product.api}/metrics`)).text();
    const figures = await until('the requests are counted', async () => {
      // HAProxy is read for them, and not only when it is time.
      await metrics();
      const { body } = await call<TrafficFigures>('GET', '/traffic/figures?step=3600');
      const sum = (name: 'requests' | 'client_errors') =>
        body.buckets.reduce((all, bucket) => all + (bucket[name] ?? 0), 0);
      return sum('requests') >= 6 && { requests: sum('requests'), refused: sum('client_errors') };
    });
    expect(figures).toEqual({ requests: 6, refused: 3 });
    expect(await metrics()).toMatch(/^sallyport_proxy_requests_total\{class="4xx"\} 3$/m);
  });

  test('takes an origin by name, over TLS without a trusted certificate only when it need not be verified', async () => {
    await create({ domain: 'named.test', forward_host: 'localhost' });
    expect((await through('named.test')).status).toBe(200);
    const tls = { forward_scheme: 'https' as const, forward_port: tlsOriginPort };
    await create({ domain: 'tls.test', ...tls });
    expect((await through('tls.test')).status).toBe(200);
    await create({ domain: 'verified.test', ...tls, forward_host: 'localhost', forward_verify_tls: true });
    expect((await through('verified.test')).status).toBe(503);
  });

  test('quarantines a host whose origin does not resolve, and nobody else notices', async () => {
    const { status, body } = await call<ProxyHost>('POST', '/proxy-hosts', {
      domain: 'lost.test',
      forward_host: 'no-such-host.invalid',
      forward_port: 80,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ applied: false, issue: 'forward_host no-such-host.invalid does not resolve' });
    expect((await through('lost.test')).status).toBe(503);
    await create({ domain: 'fine.test' });
    expect((await through('fine.test')).status).toBe(200);
  });

  test('passes upgrades where they are wanted, with the standard headers even when these are off', async () => {
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    await create({ domain: 'no-ws.test' });
    expect((await through('no-ws.test', '/', upgrade)).status).toBe(403);
    await create({ domain: 'ws.test', websocket_support: true, enable_standard_headers: false });
    const upgraded = await through('ws.test', '/', upgrade);
    expect(upgraded.status).toBe(101);
    expect(JSON.parse(upgraded.body).headers).toMatchObject({ 'x-real-ip': '127.0.0.1', 'x-forwarded-proto': 'http' });
    expect(JSON.parse((await through('ws.test')).body).headers).not.toHaveProperty('x-real-ip');
  });

  test('drops forged client addresses and marks what came through the proxy', async () => {
    await create({ domain: 'forged.test' });
    const forged = {
      'x-real-ip': '6.6.6.6',
      'x-forwarded-for': '6.6.6.6',
      'x-forwarded-proto': 'https',
      forwarded: 'for=6.6.6.6',
    };
    const { headers } = JSON.parse((await through('forged.test', '/', forged)).body);
    expect(headers).toMatchObject({
      'x-real-ip': '127.0.0.1',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'forged.test',
      'x-sallyport-proxied': expect.stringMatching(/^[0-9a-f]{16}\.\d+$/),
    });
    expect(JSON.stringify(headers)).not.toContain('6.6.6.6');
  });

  test('gives the management API no local rights through the proxy', async () => {
    const api = Number(new URL(product.api).port);
    await create({ domain: 'localhost.test,manage.test', forward_port: api, forward_reserved: true });
    expect((await through('manage.test', '/api/v1/health')).status).toBe(200);
    expect((await through('manage.test', '/api/v1/proxy-hosts')).status).toBe(401);
  });

  test('redirects plain HTTP with 308 but leaves ACME challenges alone', async () => {
    await create({ domain: 'forced.test', ssl_forced: true, hsts_enabled: true });
    const redirect = await through('forced.test', '/a/b?c=d%20e');
    expect(redirect.status).toBe(308);
    expect(redirect.headers.location).toBe(`https://forced.test:${product.ports.https}/a/b?c=d%20e`);
    expect((await through('forced.test', '/.well-known/acme-challenge/x')).status).toBe(200);
  });

  test('refuses the classic probes unless block_exploits is off', async () => {
    await create({ domain: 'guarded.test' });
    await create({ domain: 'open.test', block_exploits: false });
    expect((await through('guarded.test', '/?q=%3Cscript%3Ealert(1)%3C/script%3E')).status).toBe(403);
    expect((await through('open.test', '/?q=%3Cscript%3Ealert(1)%3C/script%3E')).status).toBe(200);
  });

  test('serves the certificate a host chose, swaps it while it runs, and forgets a deleted one with its files', async () => {
    const upload = async (names: string[]) =>
      (
        await call<UploadedCertificate>(
          'POST',
          '/certificates/upload',
          uploadForm(names[0] ?? '', makeCertificate(names)),
        )
      ).body;
    const first = await upload(['first.test']);
    const second = await upload(['second.test']);
    const listed = (await call<Certificate[]>('GET', '/certificates')).body;
    expect(listed.find(({ id }) => id === first.id)).toMatchObject({ applied: true, issue: null });
    const host = await create({ domain: 'secure.test', certificate_id: first.id });
    expect(await overTls('secure.test')).toEqual({ status: 200, subject: 'first.test' });
    await call('PUT', `/proxy-hosts/${host.uuid}`, { certificate_id: second.id });
    expect(await overTls('secure.test')).toEqual({ status: 200, subject: 'second.test' });
    expect((await call('DELETE', `/certificates/${first.id}`)).status).toBe(200);
    const files = readdirSync(join(product.dataDir, 'haproxy/tls/certificates'));
    expect(files.some((file) => file.startsWith(`${first.id}.`))).toBe(false);
    await create({ domain: 'second.test' });
    expect((await overTls('second.test')).subject).toBe('second.test');
  });

  test('replaces a certificate under way: no connection is dropped, and what the proxy does not take leaves the former one', async () => {
    const send = (method: string, path: string, names: string[]) =>
      call<ReplacedCertificate & ErrorBody>(method, path, uploadForm('replaced', makeCertificate(names)));
    const { id } = (await send('POST', '/certificates/upload', ['old.test'])).body;
    await create({ domain: 'kept.test', certificate_id: id });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const held = () =>
      new Promise<{ status: number | undefined; reused: boolean }>((resolve, reject) => {
        const options = { host: '127.0.0.1', port: product.ports.https, servername: 'kept.test', agent };
        const sent = httpsRequest(
          { ...options, rejectUnauthorized: false, headers: { host: 'kept.test' } },
          (response) =>
            response.resume().on('end', () => resolve({ status: response.statusCode, reused: sent.reusedSocket })),
        );
        sent.on('error', reject).end();
      });
    expect(await held()).toMatchObject({ status: 200 });

    let isReplaced = false;
    const seen = new Set<string>();
    const clients = (async () => {
      while (!isReplaced) {
        const { status, subject } = await overTls('kept.test');
        expect(status).toBe(200);
        seen.add(subject);
      }
    })();
    const replaced = await send('PUT', `/certificates/${id}`, ['new.test']);
    expect(replaced).toMatchObject({ status: 200, body: { id, applied: true, domains: 'new.test' } });
    isReplaced = true;
    await clients;
    for (const subject of seen) expect(['old.test', 'new.test']).toContain(subject);
    expect(await overTls('kept.test')).toEqual({ status: 200, subject: 'new.test' });
    expect(await held()).toEqual({ status: 200, reused: true });
    agent.destroy();

    const many = Array.from({ length: 190 }, (_, index) => `${`n${index}`.padEnd(60, 'x')}.large.test`);
    const refused = await send('PUT', `/certificates/${id}`, ['large.test', ...many]);
    expect(refused).toMatchObject({
      status: 400,
      body: {
        error: 'certificate_file was not taken by the proxy; the former certificate stays',
        details: expect.stringContaining('larger than'),
      },
    });
    const stored = await call<Certificate>('GET', `/certificates/${id}`);
    expect(stored.body).toMatchObject({ applied: true, domains: 'new.test', issue: null });
    expect(await overTls('kept.test')).toEqual({ status: 200, subject: 'new.test' });
  });

  const protocolOf = (servername: string): Promise<string | false | null> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: product.ports.https, servername, rejectUnauthorized: false };
      const socket = connectTls({ ...options, ALPNProtocols: ['h2', 'http/1.1'] }, () => {
        resolve(socket.alpnProtocol);
        socket.destroy();
      });
      socket.once('error', reject);
    });

  test('offers HTTP/2 per name', async () => {
    await create({ domain: 'h2.test' });
    await create({ domain: 'h1.test', http2_support: false });
    expect(await protocolOf('h2.test')).toBe('h2');
    expect(await protocolOf('h1.test')).toBe('http/1.1');
  });

  test('answers unknown names and dead origins with pages that carry a reference', async () => {
    const unknown = await through('unknown.test', '/', { accept: 'application/json' });
    expect(unknown.status).toBe(404);
    expect(JSON.parse(unknown.body)).toMatchObject({ code: 404, reference: unknown.headers['x-sallyport-reference'] });
    const [dead = 0] = await freePorts(1);
    await create({ domain: 'dead.test', forward_port: dead });
    const page = await through('dead.test', '/', { accept: 'text/html' });
    expect(page.status).toBe(503);
    const reference = page.headers['x-sallyport-reference'];
    expect(page.body).toContain(reference);

    const told: LogEntry[] = [];
    const live = new WebSocket(`${product.api.replace('http', 'ws')}/logs/live?backlog=500&level=warn`);
    live.on('message', (data) => told.push(JSON.parse(String(data))));
    await expect
      .poll(() => told.find(({ fields }) => fields.reference === reference))
      .toMatchObject({
        source: 'guard',
        message: 'Request failed: the origin refuses connections',
        fields: { event: 'origin_failure', host: 'dead.test', origin: `127.0.0.1:${dead}`, status: 503 },
      });
    live.close();
  });
});
