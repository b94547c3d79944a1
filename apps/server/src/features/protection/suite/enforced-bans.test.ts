import { pino } from 'pino';
import { expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import type { BanChange, EnforcementPlane } from '../../../dataplane/protection/port.ts';
import { actor, ban, type Given, givenEnforcement } from '../../../testing/given-enforcement.ts';
import { onBothDatabases } from '../../../testing/start-app.ts';
import type { Ban } from './bans.ts';
import { createEnforcedBans } from './enforced-bans.ts';
import { createParts } from './parts.ts';

onBothDatabases('bans', (kind) => {
  const enabled = (work: (given: Given) => Promise<void>) =>
    givenEnforcement(kind, async (it) => {
      await it.setSetting('feature.guard.enabled', 'true');
      await it.enforcement.replay();
      it.order.length = 0;
      await work(it);
    });

  test('come and go one by one', () =>
    enabled(async (it) => {
      const { id, uuid } = await ban(it, '203.0.113.7');
      expect([...(await it.haproxy.bans())]).toEqual([['203.0.113.7', `manual/${uuid}`]]);
      await it.decisions.remove(id, actor);
      expect(await it.bans()).toEqual([]);
      expect(it.order).toEqual(['bans update', 'bans update']);
    }));

  test('last as long as the longest decision about a network', () =>
    enabled(async (it) => {
      await ban(it, '203.0.113.7', '1h');
      const long = await ban(it, '203.0.113.7', '2h');
      await ban(it, '203.0.113.7', '1m');
      expect((await it.haproxy.bans()).get('203.0.113.7')).toBe(`manual/${long.uuid}`);
      await it.decisions.remove(long.id, actor);
      expect(await it.bans()).toEqual(['203.0.113.7']);
    }));

  test('end by themselves, in the data plane and in the store', () =>
    enabled(async (it) => {
      await ban(it, '203.0.113.7', '1h');
      await ban(it, '203.0.113.8', '2h');
      await ban(it, '203.0.113.9');
      const watch = it.enforcement.watch();
      it.advance(3_600_000);
      await eventually(it.bans).toEqual(['203.0.113.8', '203.0.113.9']);
      it.advance(3_600_000);
      await eventually(it.bans).toEqual(['203.0.113.9']);
      const rows = () => it.database.kysely.selectFrom('decisions').select('ip').execute();
      await eventually(async () => (await rows()).map(({ ip }) => ip)).toEqual(['203.0.113.9']);
      await watch.stop();
    }));

  test('of another node arrive, also mixed with own ones', () =>
    enabled(async (it) => {
      const watch = it.enforcement.watch();
      await it.elsewhere.create({ ip: '203.0.113.1', action: 'block' }, actor);
      await ban(it, '203.0.113.2');
      await it.elsewhere.create({ ip: '203.0.113.3', action: 'block' }, actor);
      await eventually(it.bans).toEqual(['203.0.113.1', '203.0.113.2', '203.0.113.3']);
      await watch.stop();
    }));

  test('of another node are not missed when an own one follows at once', () =>
    enabled(async (it) => {
      await it.elsewhere.create({ ip: '203.0.113.1', action: 'block' }, actor);
      await ban(it, '203.0.113.2');
      const watch = it.enforcement.watch();
      await eventually(it.bans).toEqual(['203.0.113.1', '203.0.113.2']);
      await watch.stop();
    }));

  test('made by hand outlast a list of a program that names the same network', () =>
    enabled(async (it) => {
      await it.setSetting('security.crowdsec.enabled', 'true');
      await it.enforcement.refresh();
      const byHand = await ban(it, '203.0.113.7', '1h');
      const imported = { ip: '203.0.113.7', details: 'http-probing', expires_at: null };
      const stored = () => it.database.kysely.selectFrom('decisions').select(['uuid', 'source']).execute();
      const onlyByHand = [{ uuid: byHand.uuid, source: 'manual' }];
      await it.decisions.replaceSource('crowdsec', [imported], actor);
      expect((await stored()).map(({ source }) => source).sort()).toEqual(['crowdsec', 'manual']);
      await it.decisions.replaceSource('crowdsec', [], actor);
      expect(await stored()).toEqual(onlyByHand);
      await it.decisions.updateSource('crowdsec', { add: [imported], remove: [] }, actor);
      await it.decisions.updateSource('crowdsec', { add: [], remove: ['203.0.113.7'] }, actor);
      expect(await stored()).toEqual(onlyByHand);
      await eventually(it.bans).toEqual(['203.0.113.7']);
    }));

  test("CrowdSec's count only while CrowdSec is on", () =>
    enabled(async (it) => {
      const imported = { ip: '203.0.113.7', details: 'http-probing', expires_at: null };
      await it.decisions.replaceSource('crowdsec', [imported], actor);
      expect(await it.bans()).toEqual([]);
      await it.setSetting('security.crowdsec.enabled', 'true');
      await it.enforcement.refresh();
      expect(await it.bans()).toEqual(['203.0.113.7']);
    }));

  test(
    '100,000 of a program replace each other, touching only what differs',
    () =>
      enabled(async (it) => {
        await it.setSetting('security.crowdsec.enabled', 'true');
        await it.enforcement.refresh();
        const imported = Array.from({ length: 100_000 }, (_, index) => ({
          ip: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
          details: 'crowdsecurity/http-probing',
          expires_at: null,
        }));
        expect(await it.decisions.replaceSource('crowdsec', imported, actor)).toEqual({ added: 100_000, removed: 0 });
        expect((await it.haproxy.bans()).size).toBe(100_000);
        const next = [...imported.slice(1), { ip: '2001:db8::/32', details: '', expires_at: null }];
        expect(await it.decisions.replaceSource('crowdsec', next, actor)).toEqual({ added: 1, removed: 1 });
        const held = await it.haproxy.bans();
        expect([held.has('10.0.0.0'), held.has('2001:db8::/32')]).toEqual([false, true]);
        await it.decisions.updateSource('crowdsec', { add: [], remove: ['10.0.0.1', '192.0.2.1'] }, actor);
        expect((await it.haproxy.bans()).size).toBe(99_999);
      }),
    120_000,
  );

  test('are told again, all of them, when HAProxy is back', () =>
    enabled(async (it) => {
      await it.haproxy.goAway();
      await ban(it, '203.0.113.7');
      expect(it.enforcement.status()).toMatchObject({
        applied: false,
        issue: expect.stringMatching(/^HAProxy is not running/),
      });
      await it.haproxy.comeBack();
      const watch = it.enforcement.watch();
      it.advance(1_000);
      await eventually(it.bans).toEqual(['203.0.113.7']);
      await eventually(() => it.enforcement.status().applied).toBe(true);
      await watch.stop();
    }));
});

test('HAProxy is told what begins, changes and ends, and nothing else; what was not taken is told', async () => {
  const now = Date.parse('2026-05-02T12:00:00.000Z');
  const decision = (ip: string, hours: number | null, source = 'manual'): Ban => ({
    ip,
    uuid: `${ip} ${hours}`,
    source,
    expires_at: hours === null ? null : new Date(now + hours * 3_600_000).toISOString(),
  });
  let live = [decision('192.0.2.1', 2), decision('192.0.2.2', 1, 'crowdsec'), decision('192.0.2.3', null)];
  let version = 7;
  const told: unknown[] = [];
  const parts = createParts(pino({ level: 'silent' }));
  const bans = createEnforcedBans({
    source: {
      decisionVersion: async () => version,
      liveDecisions: async () => live,
      liveDecisionsFor: async (networks) => live.filter(({ ip }) => networks.includes(ip)),
    },
    plane: {
      async applyDecisions(change: BanChange) {
        const entries = change.type === 'replace' ? change.entries : change.put;
        const networks = entries.map(({ network }) => network);
        told.push(change.type === 'replace' ? networks : [networks, change.remove]);
        return { applied: version < 9, issue: version < 9 ? null : 'HAProxy hangs' };
      },
    } as EnforcementPlane,
    parts,
    clock: () => new Date(now),
    isEnforced: ({ source }) => source !== 'crowdsec',
  });
  const HOUR = 3_600_000;
  expect([bans.isBehind(7), bans.hasEnded(Number.MAX_VALUE), bans.count()]).toEqual([true, false, 0]);
  await bans.replace();
  expect(told.splice(0)).toEqual([['192.0.2.1', '192.0.2.3']]);
  expect([bans.isBehind(7), bans.isBehind(8), bans.count()]).toEqual([false, true, 2]);
  expect([bans.hasEnded(now + 2 * HOUR - 1), bans.hasEnded(now + 2 * HOUR)]).toEqual([false, true]);
  expect(bans.ended(now + 2 * HOUR)).toEqual(['192.0.2.1']);
  // A version between two is a change by somebody else.
  bans.willKnow(9);
  expect(bans.isBehind(9)).toBe(true);
  bans.willKnow(8);
  expect(bans.isBehind(8)).toBe(false);
  live = [decision('192.0.2.3', 3), decision('192.0.2.4', 4)];
  await bans.update(['192.0.2.9']);
  expect(told).toEqual([]);
  await bans.update(['192.0.2.1', '192.0.2.3', '192.0.2.4']);
  expect(told.splice(0)).toEqual([[['192.0.2.3', '192.0.2.4'], ['192.0.2.1']]]);
  expect([bans.hasEnded(now + 3 * HOUR - 1), bans.hasEnded(now + 3 * HOUR)]).toEqual([false, true]);
  expect(parts.isTaken('bans')).toBe(true);
  version = 9;
  live = [];
  await bans.update(['192.0.2.4']);
  expect(told.splice(0)).toEqual([[[], ['192.0.2.4']]]);
  expect(parts.problems()).toEqual(['HAProxy hangs']);
  bans.forget();
  expect(bans.isBehind(8)).toBe(true);
});
