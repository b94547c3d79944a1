import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guardConfigFile, guardFiles } from '@sallyport/deployment/places';
import { dataPlaneFiles, everybodyCleared } from '@sallyport/haproxy';
import { afterEach, describe, expect, test } from 'vitest';
import { givenConfig, writeConfig } from '../support/guard/config.ts';
import { startGuard } from '../support/guard/guard-process.ts';
import { type Guarded, type GuardedOptions, startGuarded } from '../support/guard/start-guarded.ts';
import { ask } from '../support/http-client.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const LONG = 'a='.padEnd(40_000, 'x');

describe('what is missing is refused, never passed', () => {
  let guarded: Guarded;
  let origin: TestOrigin;

  const start = async (options: GuardedOptions): Promise<void> => {
    origin = await startOrigin();
    guarded = await startGuarded(options);
    await guarded.serve({ origin: { port: origin.port } as never });
  };
  const map = (file: string, text: string) => (dataDir: string) => writeFileSync(join(dataDir, 'haproxy', file), text);
  const statusOf = async (path = '/', more: object = {}): Promise<number> =>
    (await ask({ port: guarded.httpPort, path, ...more })).status;
  /** Short and long bodies, which go different ways. */
  const statuses = async (): Promise<number[]> => [
    await statusOf(),
    await statusOf('/', { body: 'a=b', headers: FORM }),
    await statusOf('/', { body: LONG, headers: FORM }),
  ];
  const whenRelayed = () =>
    expect.poll(() => guarded.command('show servers state relay')).toMatch(/relay-0 \S+ 2 .*\n.*relay-1 \S+ 2 /);

  afterEach(async () => {
    await guarded.stop();
    await origin.stop();
  });

  test('without a word about what to judge, everything is judged', async () => {
    await start({ tamper: map(dataPlaneFiles.switchesMap, '') });
    expect(await statusOf()).toBe(200);
    expect(await statusOf('/?q=attack')).toBe(403);
    expect(await statusOf('/', { body: `${LONG}attack`, headers: FORM })).toBe(403);
    expect(origin.arrivals).toHaveLength(1);
  });

  test.each(['unasked 102', 'unasked 51', 'unasked 15', 'fail_open 10'])(
    'nor with one that was cut: %s',
    async (line) => {
      await start({ tamper: map(dataPlaneFiles.switchesMap, line) });
      // A guard that gets no time of the machine has no verdict yet, and that refuses, too.
      await expect.poll(() => statusOf('/?q=attack')).toBe(403);
      for (const guard of guarded.guards) guard.kill('SIGKILL');
      await Promise.all(guarded.guards.map((guard) => guard.exited));
      expect(await statusOf()).toBe(503);
      expect(origin.arrivals).toEqual([]);
    },
  );

  test.each([
    ['an empty list', ''],
    ['a list without its end', '198.51.100.1 ban\n'],
  ])('nobody is known not to be banned with %s', async (_, text) => {
    await start({ tamper: map(dataPlaneFiles.bansMap, text) });
    const answer = await ask({ port: guarded.httpPort, headers: { accept: 'application/json' } });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ error: expect.stringContaining('could not be checked') });
    const reference = String(answer.headers['x-sallyport-reference']);
    await expect.poll(() => guarded.haproxyOutput()).toContain(reference);
    expect(guarded.haproxyOutput()).toContain('"refused":"unknown"');
    expect(origin.arrivals).toEqual([]);
    await guarded.command(`add map ${dataPlaneFiles.whitelistMap} 127.0.0.1 1`);
    expect(await statusOf()).toBe(200);
  });

  test('a whole list with a ban refuses that one and nobody else', async () => {
    const lines = [['127.0.0.7', 'ban'], ...everybodyCleared].map((line) => `${line.join(' ')}\n`);
    await start({ tamper: map(dataPlaneFiles.bansMap, lines.join('')) });
    expect(await statusOf('/', { from: '127.0.0.7' })).toBe(403);
    expect(await statusOf()).toBe(200);
  });

  test('without a word about limits nobody is known to be within them', async () => {
    await start({ tamper: map(dataPlaneFiles.limitsMap, '') });
    expect(await statusOf()).toBe(503);
    await guarded.command(`add map ${dataPlaneFiles.limitsMap} requests 0`);
    expect(await statusOf()).toBe(200);
  });

  const broken: [string, (dataDir: string) => void][] = [
    ['none', (dataDir) => rmSync(guardConfigFile(dataDir))],
    ['an empty one', (dataDir) => writeFileSync(guardConfigFile(dataDir), '')],
    ['one that was cut', (dataDir) => writeFileSync(guardConfigFile(dataDir), '{"revision":1,"access":{"enabl')],
    ['one of another form', (dataDir) => writeFileSync(guardConfigFile(dataDir), '{"revision":1}')],
    [
      'rules that do not compile',
      (dataDir) => writeConfig(dataDir, givenConfig(1, { rules: 'SecRule ARGS "@rx (" "id:1,deny"' })),
    ],
  ];

  test.each(broken)(
    'a guard with %s for its configuration refuses, also when the operator lets pass what has no verdict',
    async (_, tamper) => {
      await start({ tamper, failOpen: true });
      await whenRelayed();
      expect(await statuses()).toEqual([503, 503, 503]);
      expect(origin.arrivals).toEqual([]);
      // Nobody has to tell them.
      writeConfig(guarded.dataDir, givenConfig(2));
      await expect.poll(statuses).toEqual([200, 200, 200]);
      // Until the last of them has taken its rules up, what no guard answers passes: that is what the operator lets pass.
      await expect.poll(() => statusOf('/?q=attack')).toBe(403);
    },
  );

  test('a guard with something older than asked for leaves the request to one that has it, short or long', async () => {
    await start({ withoutGuards: true });
    const elsewhere = mkdtempSync(join(tmpdir(), 'sp-guard-'));
    const older = { revision: 1, at: guardFiles(elsewhere, 0), place: guardFiles(guarded.dataDir, 0) };
    writeConfig(elsewhere, givenConfig(older.revision));
    writeConfig(guarded.dataDir, givenConfig(3));
    const guards = [await startGuard(elsewhere, 0), await startGuard(guarded.dataDir, 1)];
    try {
      for (const socket of ['agent', 'relay'] as const) symlinkSync(older.at[socket], older.place[socket]);
      await guarded.command(`set map ${dataPlaneFiles.switchesMap} policy 2`);
      // HAProxy was there first, and has to find them.
      await whenRelayed();
      for (const half of ['even', 'odd']) {
        const states = () => guarded.command(`show servers state guards_${half}`);
        await expect.poll(states).toMatch(/guard-(\d) \S+ 2 .*\n.*guard-(?!\1)\d \S+ 2 /);
      }
      // Which one is asked first is a matter of chance.
      for (let i = 0; i < 12; i++) expect(await statuses()).toEqual([200, 200, 200]);
      expect(await statusOf('/?q=attack')).toBe(403);
      expect(await statusOf('/', { body: `${LONG}attack`, headers: FORM })).toBe(403);
      // It was asked, and has judged nothing.
      expect(await guards[0]?.stats()).toMatchObject({ requests: 0, unjudged: expect.any(Number) });
      expect((await guards[0]?.stats())?.unjudged).toBeGreaterThan(0);
    } finally {
      for (const guard of guards) guard.kill('SIGKILL');
      await Promise.all(guards.map(({ exited }) => exited));
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  test('a guard with something older than asked for refuses, until it has read what there is now', async () => {
    await start({ failOpen: true });
    await whenRelayed();
    expect(await statuses()).toEqual([200, 200, 200]);
    origin.arrivals.length = 0;
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} policy 2`);
    expect(await statuses()).toEqual([503, 503, 503]);
    expect(origin.arrivals).toEqual([]);
    writeConfig(guarded.dataDir, givenConfig(3));
    await expect.poll(statuses).toEqual([200, 200, 200]);
  });

  const list = {
    id: 10,
    name: 'nobody',
    description: '',
    type: 'allow' as const,
    rules: [{ cidr: '192.0.2.1/32', description: '' }],
    countries: [],
    local_network_only: false,
    enabled: true,
  };

  // Newer ones as well: it may be the host that is gone, and its route is still there.
  test.each([
    [0, 1],
    [1, 1],
    [1, 2],
  ])(
    'a host whose access list the guards do not know is refused (asked for revision %i, having %i)',
    async (policy, revision) => {
      const others = {
        access: { enabled: true, lists: [list] },
        hosts: [{ id: 9, access_list_id: 10, waf_enabled: true }],
      };
      await start({ failOpen: true, config: givenConfig(revision, others) });
      await guarded.command(`set map ${dataPlaneFiles.switchesMap} policy ${policy}`);
      await whenRelayed();
      expect(await statuses()).toEqual([503, 503, 503]);
      expect(origin.arrivals).toEqual([]);
    },
  );

  test('guards that are asked for what is off in the very configuration that is asked for refuse', async () => {
    const off = givenConfig(1, { waf: { enabled: false } });
    await start({ failOpen: true, config: off });
    await whenRelayed();
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} policy 1`);
    expect(await statuses()).toEqual([503, 503, 503]);
    // A newer one has the last word: it was switched off a moment ago, and HAProxy is about to hear of it.
    await guarded.configure({ ...off, revision: 2 });
    expect(await statuses()).toEqual([200, 200, 200]);
  });
});
