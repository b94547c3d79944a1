import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { GuardBlock, GuardConfig } from '@sallyport/contract';
import { guardFiles } from '@sallyport/deployment/places';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { createJudge } from '../judge/judge.ts';
import { createLanes, type Lanes } from '../lanes/lanes.ts';
import { createPolicy, type Policy } from '../policy/policy.ts';
import { createCountFile } from '../tell/count-file.ts';
import { type CountName, createCounter, readCounts, SLAB_LENGTH } from '../tell/counts.ts';
import { type RunningThread, runThread } from '../threads/run-thread.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import { createBodyHolder } from './held-body.ts';
import { createPlaces, type Places } from './places.ts';
import { createRelay } from './relay.ts';

const RULES = `SecRuleEngine On
SecRequestBodyAccess On
SecResponseBodyAccess On
SecResponseBodyMimeType text/plain text/html text/xml application/json
SecRule REQUEST_BODY "@contains attack" "id:1,phase:2,deny,status:406"
SecRule REQUEST_BODY "@contains move" "id:2,phase:2,redirect:'https://login.example/'"
SecRule REQUEST_BODY "@contains cut" "id:3,phase:2,drop"
SecRule REQUEST_HEADERS:X-Attack "@contains attack" "id:4,phase:1,deny,status:403"
SecRule &REQUEST_HEADERS:X-Sallyport-Route "!@eq 0" "id:5,phase:1,deny,status:499"
SecRule RESPONSE_BODY "@contains leaked" "id:6,phase:4,deny,status:403"
SecRule RESPONSE_HEADERS:X-Leak "@contains secret" "id:7,phase:3,deny,status:403"`;

const WITH_LIST = 2;
const WITHOUT_FIREWALL = 3;
const SMALL = 4;

const config: GuardConfig = {
  revision: 5,
  access: {
    enabled: true,
    lists: [
      {
        id: 10,
        name: 'office',
        description: '',
        type: 'allow',
        rules: [{ cidr: '192.0.2.0/24' }],
        countries: [],
        local_network_only: false,
        enabled: true,
      },
    ],
  },
  waf: {
    enabled: true,
    mode: 'block',
    fail_mode: 'closed',
    rule_sources: [{ kind: 'text', path: 'test.conf', text: RULES }],
    exclusions: [],
  },
  admin_whitelist: [],
  hosts: [
    { id: WITH_LIST, access_list_id: 10, waf_enabled: true },
    { id: WITHOUT_FIREWALL, access_list_id: null, waf_enabled: false },
    { id: SMALL, access_list_id: null, waf_enabled: true, waf_body_limit: 1_000 },
  ],
};
const policyOf = (parts: Partial<GuardConfig> = {}): Policy =>
  createPolicy({ ...config, ...parts }, { ruleSet: null, country: undefined });

let directory: string;
let judge: RunningThread;
let lanes: Lanes;
let places: Places;
let forwarder: Forwarder;
let relay: Server;
let origin: Server;

// What a test may change, and what it looks at.
let policy: Policy | undefined;
let isReady = true;
let answer: (incoming: IncomingMessage, response: ServerResponse, body: string) => void;
let told: GuardBlock[] = [];
let saved = 0;
const slab = new Float64Array(SLAB_LENGTH);
const reached: { url: string; headers: string[]; body: string }[] = [];
const ended: string[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sp-relay-'));
  const { counters } = guardFiles(directory, 0);
  mkdirSync(dirname(counters), { recursive: true });
  mkdirSync(join(directory, 'bodies'));
  const counting = createCountFile(counters);
  const start = (): RunningThread =>
    runThread('lane', {
      data: { config, dataDir: directory, index: 0, shared: counting.shared, slot: counting.take() },
      onLine: () => {},
      onExit: () => {},
    });
  judge = start();
  const now = (): number => performance.now();
  lanes = createLanes({ judge: () => judge, start, now });
  places = createPlaces({ total: 40, share: 40, now });
  forwarder = createForwarder(join(directory, 'origin'));
  const counter = createCounter(slab);
  const tell = (block: GuardBlock) => told.push(block);
  const { onRequest, onUpgrade } = createRelay({
    policy: () => policy,
    isReady: () => isReady,
    judge: createJudge({ counter, tell }),
    lanes,
    counter,
    counted: () => saved++,
    tell,
    bodies: createBodyHolder({
      directory: join(directory, 'bodies'),
      blockBytes: 65_536,
      memory: { total: 1_000_000, share: 1_000_000 },
      spool: { total: 10_000_000, share: 10_000_000 },
      diskReserve: 0,
      now,
    }),
    places,
    forwarder,
  });
  relay = createServer(onRequest).on('checkContinue', onRequest).on('upgrade', onUpgrade);
  origin = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('close', () => ended.push(incoming.url ?? ''));
    incoming.once('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      reached.push({ url: incoming.url ?? '', headers: incoming.rawHeaders, body });
      answer(incoming, response, body);
    });
  });
  await once(relay.listen(join(directory, 'relay')), 'listening');
  await once(origin.listen(join(directory, 'origin')), 'listening');
  expect(await judge.started).toMatchObject({ diagnostics: [] });
});
afterAll(async () => {
  for (const server of [relay, origin]) {
    server.close();
    server.closeAllConnections();
  }
  forwarder.stop();
  places.stop();
  await lanes.stop();
  void judge.retire(0);
  await judge.exited;
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  policy = policyOf();
  isReady = true;
  answer = (_incoming, response) => response.end('fine');
  told = [];
  saved = 0;
  slab.fill(0);
  reached.length = 0;
  ended.length = 0;
});
// Whatever became of a request, it holds nothing any more.
afterEach(async () => {
  await eventually(places.inUse).toBe(0);
  expect(readdirSync(join(directory, 'bodies'))).toEqual([]);
});

const count = (name: CountName): number => readCounts([slab])[name];

/** What HAProxy tells of a request. */
const hostHeaders = (hostId: number, more: Record<string, string> = {}): Record<string, string> => ({
  'X-Sallyport-Route': `a|b|c|d|${hostId}`,
  'X-Sallyport-Reference': 'reference-1',
  'X-Sallyport-Client': '192.0.2.9 1234 192.0.2.1 443',
  'X-Sallyport-Judge': '0 5',
  ...more,
});

interface Answered {
  status: number;
  reason: string;
  headers: IncomingMessage['headers'];
  body: string;
  trailers: IncomingMessage['trailers'];
  isWhole: boolean;
}

const answerTo = (asking: ReturnType<typeof request>): Promise<Answered> =>
  new Promise((resolve, reject) => {
    asking.once('error', reject).once('response', async (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {});
      incoming.once('close', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          reason: incoming.statusMessage ?? '',
          headers: incoming.headers,
          body: Buffer.concat(chunks).toString('latin1'),
          trailers: incoming.trailers,
          isWhole: incoming.complete,
        }),
      );
    });
  });

type Asked = { headers?: Record<string, string>; body?: string; path?: string; method?: string };

const begin = ({ headers = hostHeaders(1), path = '/path?a=b', method = 'POST' }: Asked = {}) =>
  request({ socketPath: join(directory, 'relay'), agent: false, method, path, headers });

const ask = ({ body = 'body', ...parts }: Asked = {}): Promise<Answered> => {
  const length = { 'Content-Length': String(Buffer.byteLength(body)), 'Content-Type': 'text/plain' };
  const asking = begin({ ...parts, headers: { ...length, ...(parts.headers ?? hostHeaders(1)) } });
  const answered = answerTo(asking);
  asking.end(body);
  return answered;
};

const refusal = ({ status, headers }: Answered) => [status, headers['x-sallyport-refused']];

test('a request that passes reaches its origin as it was, and its answer the client', async () => {
  answer = (_incoming, response) => {
    response.sendDate = false;
    response.writeHead(418, 'Short and stout', [
      ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Sallyport-Refused', 'waf'],
      ...['Connection', 'close', 'Trailer', 'X-Sum', 'Transfer-Encoding', 'chunked'],
    ]);
    response.write('an ');
    response.addTrailers({ 'X-Sum': '7' });
    response.end('answer');
  };
  const headers = hostHeaders(1, { 'X-Own': 'value', 'Accept-Encoding': 'gzip', TE: 'gzip' });
  const answered = await ask({ headers, body: 'a body' });
  expect(answered).toMatchObject({ status: 418, reason: 'Short and stout', body: 'an answer', isWhole: true });
  expect(answered.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  // Names that only we may give to HAProxy, and a date that nobody has sent.
  expect(answered.headers).not.toHaveProperty('x-sallyport-refused');
  expect(answered.headers).not.toHaveProperty('date');
  expect(answered.trailers).toEqual({ 'x-sum': '7' });
  const [arrived] = reached;
  expect(arrived).toMatchObject({ url: '/path?a=b', body: 'a body' });
  const pairs = Object.fromEntries(
    arrived!.headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), arrived!.headers[at + 1]]] : [])),
  );
  expect(pairs).toMatchObject({
    'x-own': 'value',
    'accept-encoding': 'gzip',
    'content-length': '6',
    'x-sallyport-client': '192.0.2.9',
    'x-sallyport-route': 'a|b|c|d|1',
  });
  for (const name of ['x-sallyport-judge', 'te', 'expect']) expect(pairs).not.toHaveProperty(name);
  expect(arrived!.headers.filter((name) => /^(content-length|x-sallyport-client)$/i.test(name))).toHaveLength(2);
  expect([told, count('unjudged')]).toEqual([[], 0]);
});

test.each([
  ['attack', 406, undefined],
  ['move', 302, 'https://login.example/'],
  ['cut', 403, undefined],
])('a body with %j never reaches the origin', async (body, status, location) => {
  const answered = await ask({ body });
  expect(answered.headers.location).toBe(location);
  expect(refusal(answered)).toEqual([status, location === undefined ? 'waf' : undefined]);
  expect(answered.body).toBe('');
  expect(reached).toEqual([]);
});

const unheard: [what: string, headers: Record<string, string>][] = [
  ['of no host', { 'X-Sallyport-Route': 'a|b|c|d' }],
  ['of a host that is no number', { 'X-Sallyport-Route': 'a|b|c|d|x' }],
  ['of host 0', { 'X-Sallyport-Route': 'a|b|c|d|0' }],
  ['of half a host', { 'X-Sallyport-Route': 'a|b|c|d|1.5' }],
  ['of nobody', { 'X-Sallyport-Client': '' }],
  ['without a word about what to judge', { 'X-Sallyport-Judge': '' }],
  ['with more than a word', { 'X-Sallyport-Judge': '0 5 1' }],
  ['that starts with more than a word', { 'X-Sallyport-Judge': '1 0 5' }],
  ['for rules that are not here yet', { 'X-Sallyport-Judge': '0 6' }],
  ['for a list that is not here', { 'X-Sallyport-Judge': '10 5' }],
];
test.each(unheard)('a request %s is refused, and counted', async (_what, headers) => {
  expect(refusal(await ask({ headers: hostHeaders(1, headers) }))).toEqual([503, 'guard']);
  expect([count('unjudged'), saved]).toEqual([1, 1]);
  expect(reached).toEqual([]);
});

test('without a configuration nothing passes', async () => {
  policy = undefined;
  expect(refusal(await ask())).toEqual([503, 'guard']);
  expect([count('unjudged'), reached]).toEqual([1, []]);
});

test('who is not on the list is refused before the body is read, or after it when the list has changed meanwhile', async () => {
  const stranger = { 'X-Sallyport-Client': '203.0.113.9 1 192.0.2.1 443', 'X-Sallyport-Judge': '10 5' };
  const member = { 'X-Sallyport-Judge': '10 5' };
  expect(refusal(await ask({ headers: hostHeaders(WITH_LIST, stranger) }))).toEqual([403, 'acl']);
  expect(saved).toBe(1);
  expect((await ask({ headers: hostHeaders(WITH_LIST, member) })).status).toBe(200);
  expect(reached).toHaveLength(1);

  const early = begin({ headers: { ...hostHeaders(WITH_LIST, stranger), 'Content-Length': '100' } });
  const answered = answerTo(early);
  early.write('some of it');
  await expect(answered.then(refusal)).resolves.toEqual([403, 'acl']);
  early.destroy();

  const late = begin({ headers: { ...hostHeaders(WITH_LIST, member), 'Content-Length': '10' } });
  const afterwards = answerTo(late);
  late.write('first');
  await eventually(places.inUse).toBe(1);
  policy = policyOf({
    revision: 6,
    access: { enabled: true, lists: [{ ...config.access.lists[0]!, rules: [{ cidr: '198.51.100.0/24' }] }] },
  });
  late.end('secon');
  expect(refusal(await afterwards)).toEqual([403, 'acl']);
  expect(told.map(({ layer }) => layer)).toEqual(['acl', 'acl', 'acl']);
  expect(reached).toHaveLength(1);
});

test('a body is as long as it may be, however it says how long it is', async () => {
  const headers = { ...hostHeaders(SMALL), 'Content-Type': 'text/plain' };
  const chunked = async (bytes: number): Promise<Answered> => {
    const asking = begin({ headers: { ...headers, 'Transfer-Encoding': 'chunked' } });
    const answered = answerTo(asking);
    asking.end('x'.repeat(bytes));
    return answered;
  };
  expect((await ask({ headers, body: 'x'.repeat(1_000) })).status).toBe(200);
  expect((await chunked(1_000)).status).toBe(200);
  expect(reached.map(({ body }) => body.length)).toEqual([1_000, 1_000]);
  expect([count('blocked'), told]).toEqual([0, []]);
  expect(refusal(await ask({ headers, body: 'x'.repeat(1_001) }))).toEqual([413, 'waf']);
  expect(refusal(await chunked(1_001))).toEqual([413, 'waf']);
  expect(reached).toHaveLength(2);
  const expected = { layer: 'waf', status: 413, monitored: false, rule_id: null, host_id: SMALL };
  expect(told).toMatchObject([expected, expected]);
  expect(told.map(({ reason }) => reason)).toEqual(Array(2).fill('the body has more than 1000 bytes'));
  expect([count('requests'), count('blocked'), count('unjudged'), saved]).toEqual([2, 2, 0, 2]);
});

test('a client that waits to be told is told to send, unless it is refused', async () => {
  const going = begin({ headers: { ...hostHeaders(1), Expect: '100-continue', 'Content-Length': '4' } });
  const answered = answerTo(going);
  going.once('continue', () => going.end('body'));
  going.flushHeaders();
  expect((await answered).status).toBe(200);
  expect(reached).toHaveLength(1);

  const refused = begin({ headers: { ...hostHeaders(SMALL), Expect: '100-continue', 'Content-Length': '5000' } });
  let wasTold = false;
  refused.once('continue', () => {
    wasTold = true;
  });
  const early = answerTo(refused);
  refused.flushHeaders();
  expect(refusal(await early)).toEqual([413, 'waf']);
  expect(wasTold).toBe(false);
  refused.destroy();
});

test('a host whose firewall is off has its requests passed on unread', async () => {
  expect((await ask({ headers: hostHeaders(WITHOUT_FIREWALL), body: 'attack' })).status).toBe(200);
  expect(reached).toHaveLength(1);
});

const LEAK = hostHeaders(1, { 'X-Sallyport-Inspect': 'response', 'Accept-Encoding': 'gzip' });

test.each([['text/html'], ['text/plain; charset=utf-8'], ['TEXT/XML'], [' application/json ']])(
  'an answer of type %j is read before the client sees any of it',
  async (type) => {
    answer = (_incoming, response) => response.writeHead(200, { 'Content-Type': type }).end('leaked');
    expect(refusal(await ask({ headers: LEAK }))).toEqual([403, 'waf']);
    // The origin was not offered what nobody could read.
    expect(reached[0]!.headers.join('\n').toLowerCase()).not.toContain('accept-encoding');
    expect((await ask()).body).toBe('leaked');
    answer = (_incoming, response) => response.writeHead(200, { 'Content-Type': type }).end('fine');
    expect(await ask({ headers: LEAK })).toMatchObject({ status: 200, body: 'fine', isWhole: true });
  },
);

test.each([
  ['image/png', {}],
  ['text/html', { 'Content-Encoding': 'gzip' }],
  ['', {}],
])(
  'an answer of type %j with %j is passed on unread, but for its headers',
  async (type, more: Record<string, string>) => {
    let extra = {};
    answer = (_incoming, response) =>
      response.writeHead(200, { ...(type && { 'Content-Type': type }), ...more, ...extra }).end('leaked');
    expect((await ask({ headers: LEAK })).body).toBe('leaked');
    extra = { 'X-Leak': 'secret' };
    expect(refusal(await ask({ headers: LEAK }))).toEqual([403, 'waf']);
  },
);

test('an answer that says it is not encoded is read', async () => {
  answer = (_incoming, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'Identity' }).end('leaked');
  expect(refusal(await ask({ headers: LEAK }))).toEqual([403, 'waf']);
});

test('of an answer longer than what is read, the rest follows whole', async () => {
  const rest = 'y'.repeat(2_000_000);
  let beginning = 'x'.repeat(1_000_000);
  answer = (_incoming, response) =>
    response.writeHead(200, { 'Content-Type': 'text/plain', 'X-Bytes': '3' }).end(beginning + rest);
  const answered = await ask({ headers: LEAK });
  expect([answered.status, answered.isWhole, answered.body === beginning + rest]).toEqual([200, true, true]);
  beginning = `${'x'.repeat(1_000_000)}leaked`;
  expect(refusal(await ask({ headers: LEAK }))).toEqual([403, 'waf']);
});

test('an answer that comes in pieces is not held back for ever', async () => {
  let finish: () => void = () => {};
  answer = (_incoming, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain' });
    response.write('first ');
    finish = () => response.end('second');
  };
  const asking = begin({ headers: LEAK, method: 'GET' });
  const answered = answerTo(asking);
  // It comes although nothing follows yet.
  asking.once('response', () => finish());
  asking.end();
  expect(await answered).toMatchObject({ status: 200, body: 'first second', isWhole: true });
});

test('an origin that breaks off is told from one that has ended', async () => {
  const half = (response: ServerResponse): void => {
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': '100' });
    response.write('half', () => response.destroy());
  };
  answer = (_incoming, response) => half(response);
  // While it is read: nothing was sent yet.
  expect(refusal(await ask({ headers: LEAK }))).toEqual([502, 'origin']);
  // And unread: half an answer must not look like a whole one.
  const broken = await ask().catch((error: Error) => error);
  if (!(broken instanceof Error)) expect(broken).toMatchObject({ isWhole: false });
  expect(count('unjudged')).toBe(0);
});

test('a HAProxy that does not answer is no fault of the guard, and the client is told', async () => {
  answer = (incoming) => incoming.socket.destroy();
  expect(refusal(await ask())).toEqual([503, 'guard']);
  expect([count('unjudged'), saved]).toEqual([0, 1]);
});

test('a long body reaches the origin whole, and may be answered before it is read', async () => {
  const body = `${'0123456789'.repeat(50_000)}end`;
  answer = (_incoming, response, got) => response.end(got === body ? 'the same' : 'another');
  expect(await ask({ body })).toMatchObject({ status: 200, body: 'the same' });
  expect(refusal(await ask({ body: `${body} attack` }))).toEqual([406, 'waf']);
  expect(reached).toHaveLength(1);

  const early = (_incoming: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(413, { Connection: 'close' }).end('too much');
  origin.on('checkContinue', early);
  try {
    expect(await ask({ body })).toMatchObject({ status: 413, body: 'too much' });
  } finally {
    origin.off('checkContinue', early);
  }
});

test('a client that hangs up has its request ended, and was not refused anything', async () => {
  answer = () => {};
  const asking = begin({ headers: LEAK, method: 'GET', path: '/slow' }).on('error', () => {});
  asking.end();
  await eventually(() => reached.length).toBe(1);
  asking.destroy();
  await eventually(() => ended).toEqual(['/slow']);
  await eventually(places.inUse).toBe(0);

  const half = begin({ headers: { ...hostHeaders(1), 'Content-Length': '100' } }).on('error', () => {});
  half.write('some');
  await eventually(places.inUse).toBe(1);
  half.destroy();
  await eventually(places.inUse).toBe(0);
  expect([count('unjudged'), saved, reached.length]).toEqual([0, 0, 1]);
});

test('who asks for the health of the guard is told; what HAProxy sends is a request', async () => {
  const health = async () => (await ask({ path: '/health', headers: {} })).status;
  expect(await health()).toBe(200);
  isReady = false;
  expect(await health()).toBe(503);
  expect((await ask({ path: '/health' })).body).toBe('fine');
  expect(refusal(await ask({ path: '/other', headers: {} }))).toEqual([503, 'guard']);
  expect(reached.map(({ url }) => url)).toEqual(['/health']);
});

/** Asks for another protocol; resolves with what came back, and the connection. */
const upgrade = async (headers: Record<string, string>, first = ''): Promise<{ head: string; socket: Socket }> => {
  const socket = connect(join(directory, 'relay')).on('error', () => {});
  const lines = Object.entries({ Host: 'a.example', Connection: 'Upgrade', Upgrade: 'websocket', ...headers });
  socket.write(`GET /socket HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n${first}`);
  let head = '';
  socket.on('data', (chunk: Buffer) => {
    head += chunk.toString('latin1');
  });
  await Promise.race([eventually(() => head).toContain('\r\n\r\n'), once(socket, 'close')]);
  return { head, socket };
};

test('a connection that speaks another protocol passes what both sides say, once it is judged', async () => {
  const heard: string[] = [];
  const onUpgrade = (incoming: IncomingMessage, socket: Socket, head: Buffer): void => {
    reached.push({ url: incoming.url ?? '', headers: incoming.rawHeaders, body: '' });
    heard.push(head.toString('latin1'));
    socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Key: 7\r\n\r\nhello');
    socket.on('data', (chunk: Buffer) => heard.push(chunk.toString('latin1'))).on('error', () => {});
    socket.once('end', () => socket.end('bye'));
  };
  origin.on('upgrade', onUpgrade);
  try {
    const { head, socket } = await upgrade(hostHeaders(1), 'early ');
    let all = head;
    socket.on('data', (chunk: Buffer) => {
      all += chunk.toString('latin1');
    });
    const closed = once(socket, 'close');
    await eventually(() => all).toContain('hello');
    const [status, ...headers] = all.split('\r\n\r\n')[0]!.split('\r\n');
    expect(status).toBe('HTTP/1.1 101 Switching');
    expect(headers.sort()).toEqual(['Connection: Upgrade', 'Upgrade: websocket', 'X-Key: 7']);
    socket.end('later');
    await closed;
    expect(heard.join('')).toBe('early later');
    expect(all.endsWith('hellobye')).toBe(true);
    expect(reached[0]!.headers.join('\n')).toContain('X-Sallyport-Client\n192.0.2.9');

    const refused = await upgrade(hostHeaders(1, { 'X-Attack': 'attack' }));
    expect(refused.head).toMatch(/^HTTP\/1\.1 403 .*\r\nX-Sallyport-Refused: waf\r\n/);
    const stranger = hostHeaders(WITH_LIST, { 'X-Sallyport-Client': '203.0.113.9 1', 'X-Sallyport-Judge': '10 5' });
    expect((await upgrade(stranger)).head).toContain('X-Sallyport-Refused: acl');
    // With a body it would be read as something else by somebody: nobody gets it.
    for (const framing of [{ 'Content-Length': '4' }, { 'Transfer-Encoding': 'chunked' }])
      expect((await upgrade({ ...hostHeaders(1), ...framing })).head).toBe('');
    expect(reached).toHaveLength(1);
  } finally {
    origin.off('upgrade', onUpgrade);
  }
});

test('an origin that stays with HTTP answers a request for another protocol as any other', async () => {
  const { head, socket } = await upgrade(hostHeaders(1));
  let all = head;
  socket.on('data', (chunk: Buffer) => {
    all += chunk.toString('latin1');
  });
  await eventually(() => all).toContain('fine');
  expect(all).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(reached).toHaveLength(1);
  socket.destroy();
});
