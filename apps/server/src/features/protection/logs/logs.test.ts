import { once } from 'node:events';
import { connect } from 'node:net';
import type { ErrorBody, LogEntry } from '@sallyport/contract';
import { logSocket } from '@sallyport/deployment/places';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { createGiven } from '../../../testing/given-accounts.ts';
import { guardBlock, sendLines } from '../../../testing/guard-line.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const entry = (fields: object = {}) => ({
  type: 'log',
  timestamp: '2026-11-20T12:00:00.000Z',
  level: 'info',
  source: 'guard',
  message: 'rules swapped',
  fields: { revision: 3 },
  ...fields,
});

/** What HAProxy writes with the data plane's log-format. */
const proxyLine = (fields: object = {}) =>
  JSON.stringify({
    time: '2026-11-20T12:00:00Z',
    client: '203.0.113.7',
    reference: '0f9c2f7e-0000-4000-8000-000000000002',
    status: 429,
    termination: 'PR--',
    refused: 'rate_limit',
    host: 'app.example.com',
    host_id: '7',
    method: 'GET',
    uri: '/x',
    origin: '-:-',
    duration_ms: 0,
    ...fields,
  });

onBothDatabases('live logs', (kind) => {
  let app: TestApp;
  const open = new Set<WebSocket>();
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterEach(() => {
    for (const socket of open) socket.terminate();
    open.clear();
  });
  afterAll(() => app.stop());

  const liveUrl = (query = '') => `${app.url.replace('http', 'ws')}/api/v1/logs/live${query}`;

  /** Connects a reader; its entries are gathered from the moment it is open. */
  const read = async (query = '', options: object = {}) => {
    const socket = new WebSocket(liveUrl(query), options);
    open.add(socket);
    const entries: LogEntry[] = [];
    socket.on('message', (data) => entries.push(JSON.parse(String(data)) as LogEntry));
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    return { socket, entries };
  };

  /** Tries to connect and resolves to the answer that refuses it. */
  const refusedUpgrade = (query: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const socket = new WebSocket(liveUrl(query), { headers });
      socket.once('open', () => reject(new Error('was not refused')));
      socket.once('error', () => {});
      socket.once('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk) => {
          body += String(chunk);
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
    });

  const send = (...lines: (object | string)[]) => sendLines(app.dataDir, lines);
  const metric = async (name: string) => {
    const { body } = await app.send<string>('GET', '/metrics');
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]);
  };

  test('sends each entry as one JSON message', async () => {
    const { entries } = await read();
    await send(entry(), guardBlock());
    await eventually(() => entries).toHaveLength(2);
    expect(entries[0]).toEqual({
      level: 'info',
      message: 'rules swapped',
      timestamp: '2026-11-20T12:00:00.000Z',
      source: 'guard',
      fields: { revision: 3 },
    });
    expect(entries[1]).toMatchObject({
      level: 'warn',
      source: 'waf',
      fields: {
        event: 'waf_block',
        ip: '203.0.113.7',
        rule_id: 942100,
        severity: 'CRITICAL',
        request_uri: '/search?q=%27%20or%201=1',
        reference: '0f9c2f7e-0000-4000-8000-000000000001',
      },
    });
  });

  test('filters by least level and by source', async () => {
    const all = await read();
    const warnings = await read('?level=warn');
    const acl = await read('?source=acl&level=debug');
    await send(
      entry({ level: 'debug', message: 'a' }),
      entry({ level: 'warn', message: 'b' }),
      entry({ level: 'error', message: 'c', source: 'acl' }),
      entry({ level: 'info', message: 'd', source: 'acl' }),
    );
    await eventually(() => all.entries).toHaveLength(4);
    await eventually(() => warnings.entries.map(({ message }) => message)).toEqual(['b', 'c']);
    await eventually(() => acl.entries.map(({ message }) => message)).toEqual(['c', 'd']);
  });

  test('sends earlier entries first when asked', async () => {
    const first = await read();
    await send(entry({ message: 'one' }), entry({ message: 'two' }), entry({ message: 'three' }));
    await eventually(() => first.entries).toHaveLength(3);
    const { entries } = await read('?backlog=2');
    await eventually(() => entries.map(({ message }) => message)).toEqual(['two', 'three']);
  });

  test("takes HAProxy's refusals from its log, and leaves its other lines aside", async () => {
    const before = await metric('sallyport_log_lines_invalid_total');
    const { entries } = await read();
    await send(
      '[NOTICE]   (1) : New worker (2) forked',
      proxyLine({ refused: '', status: 502 }),
      proxyLine(),
      proxyLine({ refused: 'decision', status: 403 }),
      proxyLine({ refused: 'guard', status: 503 }),
    );
    await eventually(() => entries).toHaveLength(3);
    expect(entries.map(({ source, level, fields }) => [source, level, fields.event])).toEqual([
      ['guard', 'warn', 'rate_limit_hit'],
      ['crowdsec', 'info', 'decision_refusal'],
      ['guard', 'error', 'guard_refusal'],
    ]);
    expect(await metric('sallyport_log_lines_invalid_total')).toBe(before);
  });

  test('counts lines that are none, and goes on', async () => {
    const before = await metric('sallyport_log_lines_invalid_total');
    const { entries } = await read();
    await send(
      '{"type":"log"',
      '{}',
      '{"type":"dance"}',
      entry({ level: 'loud' }),
      entry({ timestamp: 'yesterday' }),
      guardBlock({ status: 7 }),
      guardBlock({ matches: 'x' }),
      entry({ message: 'last' }),
    );
    await eventually(() => entries.map(({ message }) => message)).toEqual(['last']);
    expect(await metric('sallyport_log_lines_invalid_total')).toBe(before + 7);
  });

  test('ends a connection whose line never ends', async () => {
    const socket = connect(logSocket(app.dataDir));
    const isClosed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
    socket.on('error', () => {});
    socket.write('x'.repeat(512 * 1024));
    expect(await isClosed).toBe(true);
  });

  test('adds up what workers counted, whatever is repeated, and over restarts of workers', async () => {
    const counters = (instance: string, requests: number, more: object = {}) => ({
      type: 'counters',
      instance,
      worker: 0,
      revision: 4,
      requests,
      blocked: 1,
      monitored: 2,
      access_denied: 3,
      unjudged: 0,
      dropped_messages: 0,
      verdict_seconds: { sum: requests / 1_000, buckets: [requests, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
      ...more,
    });
    await send(counters('first-start', 10), counters('first-start', 25), counters('first-start', 25));
    await send(counters('second-start', 5));
    await eventually(() => metric('svc_waf_requests_total')).toBe(30);
    expect(await metric('svc_waf_blocked_total')).toBe(2);
    expect(await metric('svc_waf_monitored_total')).toBe(4);
    expect(await metric('sallyport_access_denied_total')).toBe(6);
    expect(await metric('sallyport_guard_verdict_seconds_count')).toBe(30);
    const { body } = await app.send<string>('GET', '/metrics');
    expect(body).toContain('sallyport_guard_verdict_seconds_bucket{le="+Inf"} 30');
    expect(body).toContain('sallyport_guard_revision{worker="0"} 4');
  });

  test.each(['?level=loud', '?source=kernel', '?level=', '?backlog=501', '?backlog=-1'])(
    'refuses an upgrade with %s',
    async (query) => {
      const { status, body } = await refusedUpgrade(query);
      expect(status).toBe(400);
      expect((JSON.parse(body) as ErrorBody).error).toMatch(/^(level|source|backlog) must be/);
    },
  );

  test('answers 400 to a request that is no upgrade', async () => {
    expect(await app.send('GET', '/logs/live')).toMatchObject({
      status: 400,
      body: { error: 'A WebSocket upgrade is required', code: 400 },
    });
    expect((await app.send('GET', '/logs/live?level=loud')).status).toBe(400);
  });

  test('answers 400 to an upgrade that is broken', async () => {
    const response = await new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(app.url);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk) => {
        text += String(chunk);
      });
      socket.once('error', reject);
      socket.once('close', () => resolve(text));
      socket.write(
        `GET /api/v1/logs/live HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n`,
      );
    });
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response.split('\r\n\r\n')[1]).not.toBe('');
  });

  test('refuses a page of another origin and a stranger', async () => {
    expect((await refusedUpgrade('', { origin: 'https://evil.example' })).status).toBeGreaterThanOrEqual(400);
    expect((await refusedUpgrade('', { 'x-forwarded-for': '192.0.2.1' })).status).toBe(401);
    const { socket } = await read('', { headers: { origin: app.url } });
    expect(socket.readyState).toBe(WebSocket.OPEN);
  });

  test('shows a standard user neither the query nor the program of a visitor, and ends when an administrator is one no more', async () => {
    const given = createGiven(app);
    const [user, admin] = [await given.caller(), await given.caller('admin')];
    const masked = await read('', { headers: user.headers });
    const whole = await read('', { headers: admin.headers });
    await send(guardBlock({ request_uri: '/reset?token=of-the-visitor', user_agent: 'curl/8' }));
    await eventually(() => whole.entries.at(-1)?.fields).toMatchObject({ user_agent: 'curl/8' });
    await eventually(() => masked.entries.length).toBe(1);
    expect(masked.entries[0]?.fields).toEqual({
      ...whole.entries[0]?.fields,
      request_uri: '/reset',
      user_agent: undefined,
    });
    const closed = once(whole.socket, 'close');
    const first = await given.administrator();
    await app.send('PUT', `/users/${admin.user.id}`, { role: 'user' }, first.headers);
    expect((await closed)[0]).toBe(1008);
    expect(masked.socket.readyState).toBe(WebSocket.OPEN);
  });

  test('cuts off a client that stops reading, and no other one', async () => {
    const slow = await read();
    const quick = await read();
    slow.socket.pause();
    const closed = new Promise<number>((resolve) => slow.socket.once('close', (code) => resolve(code)));
    const large = entry({ message: 'm'.repeat(2_000), fields: { filling: 'f'.repeat(20_000) } });
    const before = await metric('sallyport_log_readers_cut_off_total');
    // More than kernel buffers and the reader's own may hold.
    for (let round = 0; round < 40; round += 1) await send(...Array.from({ length: 25 }, () => large));
    await eventually(() => metric('sallyport_log_readers_cut_off_total')).toBe(before + 1);
    await eventually(() => quick.entries.length).toBe(1_000);
    slow.socket.resume();
    expect([1006, 1013]).toContain(await closed);
    expect(quick.socket.readyState).toBe(WebSocket.OPEN);
  });
});
