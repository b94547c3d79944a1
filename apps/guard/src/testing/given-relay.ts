import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { GuardBlock, GuardConfig } from '@sallyport/contract';
import { guardFiles } from '@sallyport/deployment/places';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { createJudge } from '../judge/judge.ts';
import { createLanes, type Lanes } from '../lanes/lanes.ts';
import { createPolicy, type Policy } from '../policy/policy.ts';
import { createForwarder, type Forwarder } from '../relay/forward.ts';
import { createBodyHolder } from '../relay/held-body.ts';
import { createPlaces, type Places } from '../relay/places.ts';
import { createRelay } from '../relay/relay.ts';
import { createCountFile } from '../tell/count-file.ts';
import { type CountName, createCounter, readCounts, SLAB_LENGTH } from '../tell/counts.ts';
import { type RunningThread, runThread } from '../threads/run-thread.ts';
import { OFFICE } from './office.ts';

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

export const WITH_LIST = 2;
export const WITHOUT_FIREWALL = 3;
export const SMALL = 4;

const config: GuardConfig = {
  revision: 5,
  access: {
    enabled: true,
    lists: [OFFICE],
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
export const policyOf = (parts: Partial<GuardConfig> = {}): Policy =>
  createPolicy({ ...config, ...parts }, { ruleSet: null, country: undefined });

let directory: string;
let judge: RunningThread;
let lanes: Lanes;
let forwarder: Forwarder;
let relay: Server;

interface GivenRelay {
  /** What a test may change. */
  policy: Policy | undefined;
  isReady: boolean;
  answer: (incoming: IncomingMessage, response: ServerResponse, body: string) => void;
  /** What it looks at. */
  saved: number;
  places: Places;
  origin: Server;
}
/** A relay with real lanes, before an origin that does as told; anew for each test. */
export const it = {} as GivenRelay;
export const told: GuardBlock[] = [];
/** Requests that reached the origin, and the paths of those that have ended there. */
export const reached: { url: string; headers: string[]; body: string }[] = [];
export const ended: string[] = [];
const slab = new Float64Array(SLAB_LENGTH);

/** Starts the relay for the tests of a file; for each of them, `it` is as new. */
export const givenRelay = (): void => {
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
    it.places = createPlaces({ total: 40, share: 40, now });
    forwarder = createForwarder(join(directory, 'origin'));
    const counter = createCounter(slab);
    const tell = (block: GuardBlock) => told.push(block);
    const { onRequest, onUpgrade } = createRelay({
      policy: () => it.policy,
      isReady: () => it.isReady,
      judge: createJudge({ counter, tell }),
      lanes,
      counter,
      counted: () => it.saved++,
      tell,
      bodies: createBodyHolder({
        directory: join(directory, 'bodies'),
        blockBytes: 65_536,
        memory: { total: 1_000_000, share: 1_000_000 },
        spool: { total: 10_000_000, share: 10_000_000 },
        diskReserve: 0,
        now,
      }),
      places: it.places,
      forwarder,
    });
    relay = createServer(onRequest).on('checkContinue', onRequest).on('upgrade', onUpgrade);
    it.origin = createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.once('close', () => ended.push(incoming.url ?? ''));
      incoming.once('end', () => {
        const body = Buffer.concat(chunks).toString('latin1');
        reached.push({ url: incoming.url ?? '', headers: incoming.rawHeaders, body });
        it.answer(incoming, response, body);
      });
    });
    await once(relay.listen(join(directory, 'relay')), 'listening');
    await once(it.origin.listen(join(directory, 'origin')), 'listening');
    expect(await judge.started).toMatchObject({ diagnostics: [] });
  });
  afterAll(async () => {
    for (const server of [relay, it.origin]) {
      server.close();
      server.closeAllConnections();
    }
    forwarder.stop();
    it.places.stop();
    await lanes.stop();
    void judge.retire(0);
    await judge.exited;
    rmSync(directory, { recursive: true });
  });
  beforeEach(() => {
    it.policy = policyOf();
    it.isReady = true;
    it.answer = (_incoming, response) => response.end('fine');
    told.length = 0;
    it.saved = 0;
    slab.fill(0);
    reached.length = 0;
    ended.length = 0;
  });
  // Whatever became of a request, it holds nothing any more.
  afterEach(async () => {
    await eventually(it.places.inUse).toBe(0);
    expect(readdirSync(join(directory, 'bodies'))).toEqual([]);
  });
};

export const count = (name: CountName): number => readCounts([slab])[name];

/** What HAProxy tells of a request. */
export const hostHeaders = (hostId: number, more: Record<string, string> = {}): Record<string, string> => ({
  'X-Sallyport-Route': `a|b|c|d|${hostId}`,
  'X-Sallyport-Reference': 'reference-1',
  'X-Sallyport-Client': '192.0.2.9 1234 192.0.2.1 443',
  'X-Sallyport-Judge': '0 5',
  ...more,
});

/** Whose answer is to be read. */
export const INSPECTED = hostHeaders(1, { 'X-Sallyport-Inspect': 'response', 'Accept-Encoding': 'gzip' });

export interface Answered {
  status: number;
  reason: string;
  headers: IncomingMessage['headers'];
  body: string;
  trailers: IncomingMessage['trailers'];
  isWhole: boolean;
}

export const answerTo = (asking: ReturnType<typeof request>): Promise<Answered> =>
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

export const begin = ({ headers = hostHeaders(1), path = '/path?a=b', method = 'POST' }: Asked = {}) =>
  request({ socketPath: join(directory, 'relay'), agent: false, method, path, headers });

export const ask = ({ body = 'body', ...parts }: Asked = {}): Promise<Answered> => {
  const length = { 'Content-Length': String(Buffer.byteLength(body)), 'Content-Type': 'text/plain' };
  const asking = begin({ ...parts, headers: { ...length, ...(parts.headers ?? hostHeaders(1)) } });
  const answered = answerTo(asking);
  asking.end(body);
  return answered;
};

export const refusal = ({ status, headers }: Answered) => [status, headers['x-sallyport-refused']];

/** A connection of one's own to the relay. */
export const connectToRelay = (): Socket => connect(join(directory, 'relay'));
