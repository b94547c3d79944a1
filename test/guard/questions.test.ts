import { mkdirSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { dirname } from 'node:path';
import { guardFiles } from '@sallyport/deployment/places';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { type Action, createSpopAgent, type Message, type SpopAgent, setVar } from '@sallyport/spop';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';
import { type Ask, ask } from '../support/http-client.ts';
import { until } from '../support/until.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

const LISTS = 512;
const FIREWALL = 1024;

const answer = (parts: Record<string, string | number>): Action[] =>
  Object.entries(parts).map(([name, value]) => setVar('txn', name, value));

const PASS = answer({ verdict: 'pass' });
const UNPREPARED = answer({ verdict: 'deny', layer: 'guard', status: 503 });

/** A question as it arrived, its arguments by their names. */
const read = ({ name, args }: Message) => ({
  name,
  order: args.map((argument) => argument.name),
  ...Object.fromEntries(
    args.map((argument) => [argument.name, argument.scalar ?? argument.address ?? argument.text()]),
  ),
});
type Question = ReturnType<typeof read> & Record<string, unknown>;

// Agents of ours in place of the guards' own: they say what they were asked, and answer what the test wants.
describe('what guards are asked, and what becomes of their answer', () => {
  let guarded: Guarded;
  let origin: TestOrigin;
  let agents: SpopAgent[] = [];
  /** What guard 0 and guard 1 were asked, one after the other. */
  let asked: Question[] = [];
  let askedOf: number[] = [];
  let answers: (index: number, nth: number) => Action[] = () => PASS;

  const relays: Server[] = [];
  /** Headers of what reached either of the relays, which answer with their number. */
  const relayed: IncomingHttpHeaders[] = [];

  const startRelay = async (index: number): Promise<void> => {
    const server = createServer((request, response) => {
      if (request.url !== '/health') relayed.push(request.headers);
      request.resume().once('end', () => response.end(String(index)));
    });
    await new Promise<void>((resolve) => server.listen(guardFiles(guarded.dataDir, index).relay, resolve));
    relays.push(server);
  };

  beforeAll(async () => {
    origin = await startOrigin();
    guarded = await startGuarded({ withoutGuards: true, timeoutMs: 20_000 });
    await guarded.serve({ id: 7, origin: { port: origin.port } as never });
    agents = await Promise.all(
      [0, 1].map(async (index) => {
        const path = guardFiles(guarded.dataDir, index).agent;
        mkdirSync(dirname(path), { recursive: true });
        const agent = createSpopAgent({
          path,
          onNotify([message]) {
            if (message) asked.push(read(message));
            askedOf.push(index);
            return answers(index, askedOf.length);
          },
        });
        await agent.listen();
        return agent;
      }),
    );
    await Promise.all([startRelay(0), startRelay(1)]);
    await until('HAProxy has found both relays', async () =>
      / relay-0 \S+ 2 .*\n.* relay-1 \S+ 2 /.test(await guarded.command('show servers state relay')),
    );
    for (const half of ['even', 'odd'])
      await until(`HAProxy has found both guards for ${half}`, async () =>
        / guard-(\d) \S+ 2 .*\n.* guard-(?!\1)\d \S+ 2 /.test(
          await guarded.command(`show servers state guards_${half}`),
        ),
      );
  });
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.stop({ timeoutMs: 1 })));
    for (const relay of relays) {
      relay.closeAllConnections();
      await new Promise((resolve) => relay.close(resolve));
    }
    await guarded.stop();
    await origin.stop();
  });
  beforeEach(async () => {
    asked = [];
    askedOf = [];
    answers = () => PASS;
    origin.arrivals.length = 0;
    await guarded.switchTo(LISTS | FIREWALL);
  });

  const get = (more: Partial<Ask> = {}) => ask({ port: guarded.httpPort, ...more });
  /** The line of HAProxy's log, as far as there is one. */
  const logged = (reference: string): unknown =>
    guarded
      .haproxyOutput()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes(reference))
      .map((line) => JSON.parse(line))[0];
  const json = { accept: 'application/json' };

  test('the firewall is asked with the body, by the arguments that guards read by their place', async () => {
    expect((await get({ path: '/a?b=c', body: 'd=e', from: '127.0.0.9', headers: { 'x-more': 'f' } })).status).toBe(
      200,
    );
    const policy = 3;
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} policy ${policy}`);
    expect((await get()).status).toBe(200);
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} policy 0`);
    expect(asked).toEqual([
      {
        name: 'firewall',
        order: 'id host src src_port dst dst_port version method url headers has_list policy body'.split(' '),
        id: expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        host: '7',
        src: '127.0.0.9',
        src_port: expect.any(Number),
        dst: '127.0.0.1',
        dst_port: guarded.httpPort,
        version: '1.1',
        method: 'POST',
        url: '/a?b=c',
        headers: expect.stringContaining('x-more\u0001f'),
        has_list: LISTS,
        policy: 0,
        body: 'd=e',
      },
      expect.objectContaining({ name: 'firewall', method: 'GET', policy, body: '' }),
    ]);
  });

  test('a list alone is asked without the body', async () => {
    await guarded.switchTo(LISTS);
    expect((await get({ body: 'd=e' })).status).toBe(200);
    expect(asked).toMatchObject([{ name: 'access', host: '7', method: 'POST', has_list: LISTS, policy: 0 }]);
    expect(asked[0]?.order).not.toContain('body');
    expect(origin.arrivals).toHaveLength(1);
  });

  test('the firewall alone says that there is no list', async () => {
    await guarded.switchTo(FIREWALL);
    expect((await get()).status).toBe(200);
    expect(asked).toMatchObject([{ name: 'firewall', has_list: 0 }]);
  });

  test('nobody is asked when nothing is judged', async () => {
    await guarded.switchTo(0);
    expect((await get()).status).toBe(200);
    expect(asked).toEqual([]);
  });

  test.each([
    ['waf', 403, 403, 'waf'],
    ['waf', 400, 400, 'waf'],
    ['waf', 413, 413, 'waf'],
    ['waf', 418, 403, 'waf'],
    ['acl', 403, 403, 'acl'],
  ])('denied by %s with %i: %i, told as such', async (layer, status, expected, refused) => {
    answers = () => answer({ verdict: 'deny', layer, status });
    const { status: given, body, headers } = await get({ path: '/x', headers: json });
    expect(given).toBe(expected);
    const { error, reference } = JSON.parse(body) as { error: string; reference: string };
    expect(error === 'Blocked by access control list').toBe(layer === 'acl');
    expect(reference).toBe(headers['x-sallyport-reference']);
    // It is by this that the guard's own words on it are found.
    expect(asked).toMatchObject([{ id: reference }]);
    await expect.poll(() => logged(reference)).toMatchObject({ status: expected, refused, uri: '/x' });
    expect(origin.arrivals).toEqual([]);
  });

  test('redirected, or dropped without a word', async () => {
    answers = () => answer({ verdict: 'redirect', layer: 'waf', location: 'https://a.test/?b' });
    expect(await get()).toMatchObject({ status: 302, headers: { location: 'https://a.test/?b' } });
    asked = [];
    answers = () => answer({ verdict: 'drop', layer: 'waf' });
    const gone = new AbortController();
    // On a machine's own loopback the client may wait for ever.
    const dropped = get({ signal: gone.signal }).catch(() => 'nothing');
    await expect.poll(() => asked.map(({ id }) => logged(String(id)))).toMatchObject([{ refused: 'waf' }]);
    gone.abort();
    expect(await dropped).toBe('nothing');
    expect(origin.arrivals).toEqual([]);
  });

  test('a word that nobody knows lets nobody pass', async () => {
    for (const verdict of ['', 'PASS', 'passed', 'allow']) {
      answers = () => answer({ verdict });
      expect((await get()).status).toBe(403);
    }
    answers = () => answer({ verdict: 'pass' }).map((action) => ({ ...action, scope: 'sess' }));
    expect((await get()).status).toBe(503);
    expect(origin.arrivals).toEqual([]);
  });

  test('who is unprepared is asked once more after the other one, and whoever has a verdict is not asked again', async () => {
    answers = () => UNPREPARED;
    expect((await get({ headers: json })).status).toBe(503);
    // Four turns, less the first one when the lot fell on the second.
    expect(askedOf.join('')).toMatch(/^0?101$/);
    askedOf = [];
    answers = (index) => (index === 1 ? PASS : UNPREPARED);
    expect((await get()).status).toBe(200);
    expect(askedOf.join('')).toMatch(/^0?1$/);
    askedOf = [];
    answers = (_index, nth) => (nth === 3 ? PASS : UNPREPARED);
    expect((await get()).status).toBe(200);
    expect(askedOf).toHaveLength(3);
  });

  test('no answer lets pass only where the operator says so, an unprepared one never', async () => {
    const unjudged = async () =>
      /gpc0=(\d+) gpc1=(\d+)/
        .exec(await guarded.command('show table unjudged'))
        ?.slice(1)
        .map(Number) ?? [0, 0];
    const [all = 0, passed = 0] = await unjudged();
    answers = () => [];
    expect((await get()).status).toBe(503);
    await guarded.switchTo(LISTS | FIREWALL, true);
    expect((await get()).status).toBe(200);
    answers = () => UNPREPARED;
    expect((await get()).status).toBe(503);
    answers = (_index, nth) => (nth % 2 === 0 ? [] : UNPREPARED);
    expect((await get()).status).toBe(503);
    expect(await unjudged()).toEqual([all + 4, passed + 1]);
  });

  test('only a pass is remembered, and of the list alone', async () => {
    await guarded.command(`add map ${dataPlaneFiles.switchesMap} remembered 1`);
    const used = async () => /used:(\d+)/.exec(await guarded.command('show table passes'))?.[1];
    expect((await get()).status).toBe(200);
    await guarded.switchTo(LISTS);
    for (const given of [answer({ verdict: 'deny', layer: 'acl', status: 403 }), UNPREPARED, []]) {
      answers = () => given;
      expect((await get()).status).not.toBe(200);
    }
    expect(await used()).toBe('0');
    answers = () => PASS;
    expect((await get()).status).toBe(200);
    expect(await used()).toBe('1');
    expect(await guarded.command('show table passes')).toContain('key=7-127.0.0.1-1 ');
    asked = [];
    expect((await get()).status).toBe(200);
    expect(asked).toEqual([]);
    await guarded.command(`del map ${dataPlaneFiles.switchesMap} remembered`);
  });

  test('for a long body guards are asked who is there, and the relay of the one that answers gets it', async () => {
    const body = 'a='.padEnd(40_000, 'x');
    answers = () => [];
    expect((await get({ body })).status).toBe(503);
    expect(asked[0]).toEqual({
      ...{ name: 'presence', order: ['host', 'has_list', 'policy'] },
      ...{ host: '7', has_list: LISTS, policy: 0 },
    });
    expect(new Set(asked.map(({ name }) => name))).toEqual(new Set(['presence']));
    expect(askedOf.join('')).toMatch(/^0?101$/);
    expect(relayed).toEqual([]);
    for (const relay of [0, 1, 0, 1]) {
      answers = () => answer({ relay });
      const forged = { 'x-sallyport-inspect': 'response', 'x-sallyport-judge': '0 0', upgrade: 'websocket' };
      expect(await get({ body, from: '127.0.0.9', headers: forged })).toMatchObject({
        status: 200,
        body: String(relay),
      });
      expect(relayed.at(-1)).toMatchObject({
        'x-sallyport-route': expect.stringMatching(/^\d+\|127\.0\.0\.1\|\d+\|\|7$/),
        'x-sallyport-reference': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'x-sallyport-client': expect.stringMatching(
          new RegExp(`^127\\.0\\.0\\.9 \\d+ 127\\.0\\.0\\.1 ${guarded.httpPort}$`),
        ),
        'x-sallyport-judge': `${LISTS} 0`,
      });
      expect(relayed.at(-1)).not.toHaveProperty('x-sallyport-inspect');
      expect(relayed.at(-1)).not.toHaveProperty('upgrade');
    }
    expect(relayed).toHaveLength(4);
  });
});
