import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { proxyDirectory } from '@sallyport/deployment/places';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import { eventually } from '../../../../../test/support/eventually.ts';
import { givenHost } from '../../../../../test/support/haproxy/given.ts';
import { startEchoOrigin } from '../../../../../test/support/haproxy/origins.ts';
import { ask } from '../../../../../test/support/http-client.ts';
import { emptyStore } from '../../testing/start-app.ts';
import { type Enforced, startEnforced } from '../../testing/start-enforced.ts';
import type { BanEntry } from './port.ts';

const APPLIED = { applied: true, issue: null };
const entry = (network: string, reference = 'manual/x'): BanEntry => ({ network, reference });
const update = (put: readonly BanEntry[], remove: readonly string[] = []) => ({ type: 'update', put, remove }) as const;
const replace = (...entries: BanEntry[]) => ({ type: 'replace', entries }) as const;
/** So many addresses, each once. */
const many = (count: number): BanEntry[] =>
  Array.from({ length: count }, (_, n) => entry(`203.0.${Math.floor(n / 256)}.${n % 256}`));

const withProxy = async (
  work: (parts: {
    plane: Enforced['plane'];
    enforced: Enforced;
    path: string;
    /** What HAProxy would start from: banned networks and their references. */
    kept: () => Map<string, string>;
  }) => Promise<void>,
): Promise<void> =>
  emptyStore('sqlite', async (config) => {
    const enforced = await startEnforced(config);
    const path = join(proxyDirectory(config.dataDir), dataPlaneFiles.bansMap);
    const kept = () => {
      const lines = readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'));
      const pairs = lines.map((line) => line.split(' ') as [string, string]);
      return new Map(pairs.filter(([, reference]) => reference !== 'ok'));
    };
    try {
      await work({ plane: enforced.plane, enforced, path, kept });
    } finally {
      await enforced.stop();
    }
  });

test('a change is in force and in the file, whether it bans, unbans or names another decision', () =>
  withProxy(async ({ plane, enforced, kept }) => {
    const both = async () => [await enforced.bans(), kept()];
    const expected = (...pairs: [string, string][]) => [new Map(pairs), new Map(pairs)];
    expect(await plane.applyDecisions(replace(entry('192.0.2.1'), entry('192.0.2.2')))).toEqual(APPLIED);
    expect(await both()).toEqual(expected(['192.0.2.1', 'manual/x'], ['192.0.2.2', 'manual/x']));
    // The second one again, a third one, and the first one no more; another that was never banned.
    const change = update([entry('192.0.2.2', 'rule/7'), entry('192.0.2.3')], ['192.0.2.1', '192.0.2.9']);
    expect(await plane.applyDecisions(change)).toEqual(APPLIED);
    expect(await both()).toEqual(expected(['192.0.2.2', 'rule/7'], ['192.0.2.3', 'manual/x']));
    expect(await plane.applyDecisions(change)).toEqual(APPLIED);
    expect(await both()).toEqual(expected(['192.0.2.2', 'rule/7'], ['192.0.2.3', 'manual/x']));

    // More than is done step by step.
    const crowd = many(250);
    expect(await plane.applyDecisions(update(crowd, ['192.0.2.2']))).toEqual(APPLIED);
    const [live, file] = await both();
    expect([live!.size, live!.has('192.0.2.2'), file]).toEqual([251, false, live]);
    expect(
      await plane.applyDecisions(
        update(
          [],
          crowd.map(({ network }) => network),
        ),
      ),
    ).toEqual(APPLIED);
    expect(await both()).toEqual(expected(['192.0.2.3', 'manual/x']));

    // A network that takes the keys of others: without it theirs are there.
    const wide = update([entry('::/0', 'wide'), entry('192.0.2.4')]);
    expect(await plane.applyDecisions(wide)).toEqual(APPLIED);
    expect(await plane.applyDecisions(update([], ['::/0']))).toEqual(APPLIED);
    expect(await both()).toEqual(expected(['192.0.2.3', 'manual/x'], ['192.0.2.4', 'manual/x']));
  }));

test('a long list has new bans at its end at once, and loses the ended ones soon, at the latest when we stop', () =>
  withProxy(async ({ plane, enforced, path, kept }) => {
    const crowd = many(2_100);
    expect(await plane.applyDecisions(replace(...crowd))).toEqual(APPLIED);
    const before = readFileSync(path, 'utf8');
    expect(await plane.applyDecisions(update([entry('192.0.2.1', 'late')]))).toEqual(APPLIED);
    expect(readFileSync(path, 'utf8')).toBe(`${before}192.0.2.1 late\n`);
    expect(await plane.applyDecisions(update([], [crowd[0]!.network]))).toEqual(APPLIED);
    await eventually(() => kept().has(crowd[0]!.network)).toBe(false);
    expect([kept().size, kept().get('192.0.2.1')]).toEqual([2_100, 'late']);
    expect(await enforced.bans()).toEqual(kept());
    expect(await plane.applyDecisions(update([entry(crowd[1]!.network, 'other')], [crowd[2]!.network]))).toEqual(
      APPLIED,
    );
    await plane.stop();
    expect([kept().get(crowd[1]!.network), kept().has(crowd[2]!.network)]).toEqual(['other', false]);
    expect(await enforced.bans()).toEqual(kept());
  }));

test('what can not be kept is in force all the same, told, and kept when it is repeated', () =>
  withProxy(async ({ plane, enforced, path, kept }) => {
    await plane.applyDecisions(replace(entry('192.0.2.1')));
    rmSync(path);
    mkdirSync(path);
    const told = await plane.applyDecisions(update([entry('192.0.2.2')]));
    expect(told).toMatchObject({ applied: false, issue: expect.any(String) });
    expect([...(await enforced.bans()).keys()].sort()).toEqual(['192.0.2.1', '192.0.2.2']);
    rmSync(path, { recursive: true });
    expect(await plane.applyDecisions(replace(entry('192.0.2.1'), entry('192.0.2.2')))).toEqual(APPLIED);
    expect([...kept().keys()]).toEqual(['192.0.2.1', '192.0.2.2']);

    // The same for a line at the end of a long list.
    await plane.applyDecisions(replace(...many(2_100)));
    renameSync(path, `${path}.away`);
    mkdirSync(path);
    expect(await plane.applyDecisions(update([entry('192.0.2.3')]))).toMatchObject({ applied: false });
    expect((await enforced.bans()).has('192.0.2.3')).toBe(true);
    rmSync(path, { recursive: true });
  }));

test('HAProxy that is away is told so, finds the bans when it is back, and the file as we left it after a reload', () =>
  withProxy(async ({ plane, enforced, path, kept }) => {
    await enforced.goAway();
    const told = await plane.applyDecisions(replace(entry('192.0.2.1')));
    expect(told).toMatchObject({ applied: false, issue: expect.stringMatching(/^HAProxy is not running/) });
    expect([...kept().keys()]).toEqual(['192.0.2.1']);
    await enforced.comeBack();
    expect([...(await enforced.bans()).keys()]).toEqual(['192.0.2.1']);
    // Somebody else's doing; a new window takes a reload.
    writeFileSync(path, '');
    // Again where HAProxy takes longer than a reload is waited for.
    const limit = { requests: 9, burst: 1, windowSec: 30, bypass: ['192.0.2.7'] };
    await eventually(() => plane.applyRateLimit(limit)).toEqual(APPLIED);
    expect([...(await enforced.bans()).keys()]).toEqual(['192.0.2.1']);
    expect(await enforced.limit()).toBe(10);
    expect(await plane.applyRateLimit(null)).toEqual(APPLIED);
    expect(await enforced.limit()).toBe(0);
  }));

test('nobody is let through before it is known who is banned', () =>
  withProxy(async ({ plane, enforced, kept }) => {
    const origin = await startEchoOrigin('any');
    try {
      await enforced.serve(givenHost({ names: ['open.test'], origin: { port: origin.port } }));
      const status = async () => (await ask({ port: enforced.port, host: 'open.test' })).status;
      expect(await plane.hold()).toEqual(APPLIED);
      expect(await plane.release()).toEqual({ applied: false, issue: 'the bans are not known yet' });
      expect(await status()).toBe(503);
      expect(await plane.applyDecisions(replace(entry('::/0', 'wide'), entry('192.0.2.1')))).toEqual(APPLIED);
      expect(await status()).toBe(503);
      // Held with a network that takes all keys: they go, and its own comes back.
      expect(await plane.hold()).toEqual(APPLIED);
      expect(await plane.applyDecisions(replace(entry('192.0.2.1')))).toEqual(APPLIED);
      expect(await status()).toBe(503);
      // Also for a HAProxy that starts meanwhile.
      await enforced.goAway();
      await enforced.comeBack();
      expect(await plane.release()).toEqual(APPLIED);
      expect([await status(), [...kept().keys()]]).toEqual([200, ['192.0.2.1']]);
      // No guard is there, which HAProxy has found by itself.
      await eventually(() => plane.judges()).toMatchObject({ total: expect.any(Number) });
      expect(await plane.unjudged()).toEqual({ refused: 0, passed: 0 });
    } finally {
      await origin.stop();
    }
  }));
