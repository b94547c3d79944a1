import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SecurityStatus } from '@sallyport/contract';
import { listProcesses } from '@sallyport/deployment/processes';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { makeCertificate } from '../support/certificates.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';

interface Answer {
  status: number;
  body: string;
  reference: string;
}

const SQL_ERROR =
  '<p>You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version</p>';
const ATTACK = `/?id=${encodeURIComponent('1 union select password from users--')}`;

describe('the firewall from the switch to the refusal', () => {
  let product: Product;
  let origin: Server;
  let token: string;
  const arrivals: string[] = [];

  const { call } = createApiCaller(
    () => product.api,
    () => token,
  );

  type Sent = { method?: string; host?: string; headers?: Record<string, string>; body?: string | Buffer };
  const send = (path: string, { method = 'GET', host = 'waf.test', headers = {}, body }: Sent = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const options = {
        host: '127.0.0.1',
        port: product.ports.http,
        method,
        path,
        headers: { host, 'user-agent': 'client/1.0', accept: '*/*', ...length, ...headers },
        agent: false,
      };
      request(options, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => {
          const reference = String(response.headers['x-sallyport-reference'] ?? '');
          resolve({ status: response.statusCode ?? 0, body, reference });
        });
      })
        .once('error', reject)
        .end(body);
    });
  const get = (path: string): Promise<Answer> => send(path);

  beforeAll(async () => {
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    product = createProduct({ api, http, https });
    origin = createServer((incoming, response) => {
      arrivals.push(incoming.url ?? '');
      response.setHeader('content-type', 'text/html');
      response.end(incoming.url === '/leak' ? SQL_ERROR : 'fine');
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    await product.start();
    const setup = { email: 'admin@example.com', password: 'correct horse battery' };
    ({ token } = await call<{ token: string }>('POST', '/setup', setup));
    await call('POST', '/proxy-hosts', {
      domain: 'waf.test',
      forward_host: '127.0.0.1',
      forward_port: (origin.address() as AddressInfo).port,
      waf_inspect_responses: true,
      // Its own probes would refuse the attacks first.
      block_exploits: false,
    });
    const config = { name: 'default', waf_mode: 'block', waf_rules_source: 'owasp', admin_whitelist: '192.0.2.1' };
    await call('POST', '/security/config', config);
  });
  afterAll(async () => {
    await product.stop('SIGTERM');
    await product.remove();
    origin.close();
  });

  const set = (key: string, value: string) => call('POST', '/settings', { key, value });

  test('acts from the moment the switch is answered until it is switched off', async () => {
    expect((await get(ATTACK)).status).toBe(200);
    await set('security.waf.enabled', 'true');
    await set('feature.guard.enabled', 'true');
    const before = arrivals.length;
    expect((await get(ATTACK)).status).toBe(403);
    expect(arrivals).toHaveLength(before);
    expect(await get('/fine')).toMatchObject({ status: 200, body: 'fine' });
    await set('security.waf.enabled', 'false');
    expect((await get(ATTACK)).status).toBe(200);
    await set('security.waf.enabled', 'true');
  });

  test('refuses an answer that leaks an error of the database', async () => {
    const answer = await get('/leak');
    expect(answer.status).toBe(403);
    expect(answer.body).not.toContain('SQL syntax');
  });

  const INJECTION = "1' UNION SELECT password FROM users-- ";
  const types = ['application/json', 'text/plain', 'application/octet-stream', 'application/x-protobuf'];

  test.each(['PUT', 'PATCH', 'DELETE'])(
    'lets an ordinary client %s what it likes, and nothing else',
    async (method) => {
      for (const type of [...types, 'application/x-ndjson', 'application/vnd.api+json']) {
        const with_ = (body: string) => send('/things/1', { method, headers: { 'content-type': type }, body });
        expect(await with_('{"name":"Jane"}'), type).toMatchObject({ status: 200, body: 'fine' });
        expect((await with_(JSON.stringify({ name: INJECTION }))).status, type).toBe(403);
      }
      expect((await send('/things/1', { method, body: JSON.stringify({ name: INJECTION }) })).status).toBe(403);
    },
  );

  test('has methods, types and the size of bodies of a host instead of its own', async () => {
    const [host] = await call<{ uuid: string; domain: string }[]>('GET', '/proxy-hosts?search=waf.test');
    const path = `/proxy-hosts/${host?.uuid}`;
    const put = (type: string, bytes: number) =>
      send('/x', { method: 'PUT', headers: { 'content-type': type }, body: 'a'.repeat(bytes) });
    expect((await put('text/plain', 40_000)).status).toBe(200);
    await call('PUT', path, { waf_body_limit: 30_000, waf_allowed_content_types: 'text/csv' });
    // Short bodies are judged where they arrive, long ones in the relay.
    expect((await put('text/csv', 40_000)).status).toBe(413);
    expect([(await put('text/csv', 20_000)).status, (await put('text/plain', 20_000)).status]).toEqual([200, 403]);
    await call('PUT', path, {
      waf_allowed_methods: 'GET,HEAD',
      waf_allowed_content_types: null,
      waf_body_limit: 2_000,
    });
    expect([(await put('text/plain', 1_000)).status, (await put('text/plain', 3_000)).status]).toEqual([403, 413]);
    await call('PUT', path, { waf_allowed_methods: null, waf_body_limit: null });
    expect((await put('text/plain', 40_000)).status).toBe(200);
  });

  test('leaves our own API usable through a host of ours', async () => {
    const port = product.ports.api;
    await call('POST', '/proxy-hosts', {
      domain: 'admin.test',
      forward_host: '127.0.0.1',
      forward_port: port,
      forward_reserved: true,
    });
    const through = async (
      method: string,
      path: string,
      body?: unknown,
    ): Promise<{ status: number; json: unknown }> => {
      const answer = await send(`/api/v1${path}`, {
        method,
        host: 'admin.test',
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, json: answer.body === '' ? undefined : JSON.parse(answer.body) };
    };
    const host = { domain: 'made.test', forward_host: '192.0.2.7', forward_port: 80 };
    const made = await through('POST', '/proxy-hosts', host);
    expect(made.status, JSON.stringify(made.json)).toBe(201);
    const { uuid } = made.json as { uuid: string };
    expect((await through('PUT', `/proxy-hosts/${uuid}`, { name: `<script>alert(1)</script>` })).status).toBe(200);
    expect((await through('DELETE', `/proxy-hosts/${uuid}`)).status).toBe(204);
    const content = `SecRule ARGS "@rx (?i)<script|union\\s+select|/etc/passwd" "id:1,phase:2,deny"\n# ${INJECTION}\n`;
    const ruleset = await through('POST', '/security/rulesets', { name: 'attacks', mode: 'custom', content });
    expect(ruleset.status, JSON.stringify(ruleset.json)).toBe(200);
    const setting = { key: 'app.public_url', value: 'http://192.0.2.1:8080' };
    expect((await through('POST', '/settings', setting)).status).toBe(200);
    const login = { email: 'admin@example.com', password: "' or 1=1 -- <script>" };
    expect((await through('POST', '/auth/login', login)).status).toBe(401);
    expect(
      (await send(`/api/v1/proxy-hosts?search=${encodeURIComponent(INJECTION)}`, { host: 'admin.test' })).status,
    ).toBe(403);

    const form = new FormData();
    form.set('name', 'made');
    const { certificate, key } = makeCertificate(['made.test']);
    form.set('certificate_file', new Blob([certificate]), 'made.pem');
    form.set('key_file', new Blob([key]), 'made.key');
    const encoded = new Response(form);
    const upload = await send('/api/v1/certificates/upload', {
      method: 'POST',
      host: 'admin.test',
      headers: { authorization: `Bearer ${token}`, 'content-type': encoded.headers.get('content-type') ?? '' },
      body: Buffer.from(await encoded.arrayBuffer()),
    });
    expect(upload.status, upload.body).toBe(201);
  });

  test('the status tells when no guard is there to judge, and when one is again', async () => {
    const guards = listProcesses().filter(({ argv }) =>
      argv.some((argument) => argument.includes('apps/guard/src/main')),
    );
    const ours = guards.filter(({ argv }) => argv.some((argument) => argument.startsWith(product.dataDir)));
    expect(ours.length).toBeGreaterThan(0);
    const status = () => call<SecurityStatus>('GET', '/security/status');
    expect(await status()).toMatchObject({ applied: true, issue: null });
    // The supervisor too: it would replace them.
    const stopped = [product.pids().supervisor, ...ours.map(({ pid }) => pid)];
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    try {
      await expect.poll(status).toMatchObject({
        applied: false,
        issue: 'no guard answers: requests that need a verdict are refused with 503',
      });
      // Requests that the relay has taken wait until HAProxy finds that it hangs.
      await expect.poll(async () => (await get('/fine')).status).toBe(503);
    } finally {
      for (const pid of stopped.toReversed()) process.kill(pid, 'SIGCONT');
    }
    await expect.poll(status).toMatchObject({ applied: true, issue: null });
    await expect.poll(async () => (await get('/fine')).status).toBe(200);
  });

  test('explains a refusal by its reference, and its exclusion lets the request pass', async () => {
    const { reference } = await get(ATTACK);
    type Block = { layer: string; rule_id: number; variable: string; exclusions: object[] };
    let block: Block | undefined;
    await expect
      .poll(async () => {
        const headers = { authorization: `Bearer ${token}` };
        const response = await fetch(`${product.api}/security/blocks/${reference}`, { headers });
        block = response.ok ? ((await response.json()) as Block) : undefined;
        return response.status;
      })
      .toBe(200);
    expect(block).toMatchObject({ layer: 'waf', variable: 'ARGS:id' });
    for (const exclusion of block?.exclusions ?? []) await call('POST', '/security/exclusions', exclusion);
    expect((await get(ATTACK)).status).toBe(200);
    expect((await get(ATTACK.replace('id=', 'other='))).status).toBe(403);
  });
});
