import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../../test/support/free-ports.ts';
import { type Pebble, startPebble } from '../../../../../../../test/support/start-pebble.ts';
import { getSite } from '../../../../net/ask-site.ts';
import { createNameServers } from '../../../../net/name-servers.ts';
import { systemLookup } from '../../../../net/system-lookup.ts';
import { emptyStore } from '../../../../testing/start-app.ts';
import { startChallengeNode } from '../../../../testing/start-challenge-node.ts';
import { withStore } from '../../../../testing/with-store.ts';
import { createChallenges } from '../challenges/service.ts';
import { createPreflight, type WantedOrder } from './service.ts';

let pebble: Pebble;
beforeAll(async () => {
  pebble = await startPebble();
});
afterAll(() => pebble?.stop());

const wanted = (names: readonly string[], more: Partial<WantedOrder> = {}): WantedOrder => ({
  names,
  challenge: 'http-01',
  directoryUrl: pebble.directoryUrl,
  accountUrl: null,
  directory: async () => ({ caaIdentities: ['CA.example'] }),
  ...more,
});

type Node = Awaited<ReturnType<typeof startChallengeNode>>;

const preflightOf = (challenges: Node['challenges'], port: number) =>
  createPreflight({
    nameServers: async () => createNameServers([pebble.dns.resolver]),
    challenges,
    port: async () => port,
    lookup: systemLookup,
    get: ({ address, port: at }, name, path, signal) =>
      getSite({ address, port: at, isTls: false }, name, signal, path),
  });

test('an order whose names lead to this proxy and may be certified is fine; nothing of the look stays', () =>
  emptyStore('sqlite', async (config) => {
    const node = await startChallengeNode(config);
    try {
      await pebble.dns.setCaa('permitted.test', [{ tag: 'issue', value: 'ca.example' }]);
      const { check } = preflightOf(node.challenges, node.proxy.port);
      const { ok, checks } = await check(wanted(['a.test', 'www.permitted.test', '127.0.0.1']));
      expect(checks.filter((one) => !one.ok)).toEqual([]);
      expect(ok).toBe(true);
      expect(checks.map(({ name, subject }) => `${name} ${subject}`)).toEqual([
        'account ',
        'caa a.test',
        'caa www.permitted.test',
        'resolves a.test',
        'resolves www.permitted.test',
        'port-80 a.test',
        'port-80 www.permitted.test',
        'port-80 127.0.0.1',
      ]);
      expect(await node.database.kysely.selectFrom('acme_challenges').selectAll().execute()).toEqual([]);
      expect(node.file()).not.toContain('preflight');
    } finally {
      await node.endServer();
      await node.proxy.stop();
    }
  }));

test('each thing that is in the way is told with its fix, and whether it keeps the order from being sent', () =>
  emptyStore('sqlite', async (config) => {
    const node = await startChallengeNode(config);
    const other = createServer((_, response) => response.writeHead(200, { server: 'router' }).end('hello'));
    const otherPort = await freePort();
    await new Promise<void>((resolve) => other.listen(otherPort, '127.0.0.1', resolve));
    try {
      const { dns } = pebble;
      await dns.setCaa('forbidden.test', [{ tag: 'issue', value: 'other.example' }]);
      await dns.breakName('broken.test');
      const names = ['www.forbidden.test', 'broken.test', 'elsewhere.test'];
      const { ok, checks } = await preflightOf(node.challenges, otherPort).check(wanted(names));
      expect(ok).toBe(false);
      const told = checks.filter((one) => !one.ok).map(({ name, subject, blocks }) => `${name} ${subject} ${blocks}`);
      expect(told).toEqual([
        'caa www.forbidden.test true',
        'caa broken.test false',
        'resolves broken.test false',
        'port-80 www.forbidden.test true',
        'port-80 elsewhere.test true',
      ]);
      expect(checks.every((one) => one.ok === (one.fix === null))).toBe(true);
    } finally {
      other.close();
      await node.endServer();
      await node.proxy.stop();
    }
  }));

test('an authority that can not be asked is told, and the rest is looked at all the same', () =>
  emptyStore('sqlite', async (config) => {
    const node = await startChallengeNode(config);
    try {
      const directory = async () => {
        throw new Error('connection refused');
      };
      const { checks } = await preflightOf(node.challenges, node.proxy.port).check(wanted(['a.test'], { directory }));
      expect(checks).toMatchObject([
        { name: 'account', ok: false, blocks: true, message: expect.stringContaining('connection refused') },
        { name: 'resolves', ok: true },
        { name: 'port-80', ok: true },
      ]);
    } finally {
      await node.endServer();
      await node.proxy.stop();
    }
  }));

test('a proxy that is not there is told for what it is', () =>
  withStore(async (database, dataDir) => {
    const log = pino({ level: 'silent' });
    const answering = createChallenges({ dataDir, database, node: randomUUID(), clock: () => new Date(), log });
    // In its own time it would wait for one that is just being started.
    const publish: Node['challenges']['publish'] = (answers, options) =>
      answering.publish(answers, { ...options, timeoutMs: 0 });
    const { checks } = await preflightOf({ ...answering, publish }, 9).check(wanted(['a.test']));
    expect(checks.map(({ name, ok }) => `${name} ${ok}`)).toEqual([
      'account true',
      'caa true',
      'resolves true',
      'port-80 false',
    ]);
    expect(checks.at(-1)).toMatchObject({
      message: expect.stringMatching(/^Nobody can be answered now: this proxy does not answer the challenge: /),
      fix: expect.stringContaining('HAProxy'),
      blocks: true,
    });
  }));

test('for dns-01 nobody is asked at port 80', () =>
  emptyStore('sqlite', async (config) => {
    const node = await startChallengeNode(config);
    try {
      const { check } = preflightOf(node.challenges, await freePort());
      const { ok, checks } = await check(wanted(['*.a.test', 'a.test'], { challenge: 'dns-01' }));
      expect(ok).toBe(true);
      expect(checks.map(({ name }) => name)).toEqual(['account', 'caa', 'caa']);
    } finally {
      await node.endServer();
      await node.proxy.stop();
    }
  }));

test('name servers that never answer hold nobody up: what was not looked at in time is told, and blocks nothing', () =>
  emptyStore('sqlite', async (config) => {
    const node = await startChallengeNode(config);
    const silent = createSocket('udp4');
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
    try {
      const preflight = createPreflight({
        nameServers: async () => createNameServers([`127.0.0.1:${silent.address().port}`]),
        challenges: node.challenges,
        port: async () => node.proxy.port,
        lookup: systemLookup,
        get: () => Promise.reject(new Error('nobody is asked')),
        wholeMs: 100,
      });
      const names = Array.from({ length: 20 }, (_, index) => `n${index}.test`);
      const { ok, checks } = await preflight.check(wanted(names));
      expect(ok).toBe(false);
      const late = checks.filter(({ message }) => message.startsWith('This was not looked at'));
      expect(late.map(({ name }) => name)).toEqual([...names.map(() => 'caa'), ...names.map(() => 'resolves')]);
      expect(checks.some(({ blocks }) => blocks)).toBe(false);
    } finally {
      silent.close();
      await node.endServer();
      await node.proxy.stop();
    }
  }));
