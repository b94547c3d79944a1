import { expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { actor, ban, type Given, givenEnforcement } from '../../../testing/given-enforcement.ts';
import { onBothDatabases } from '../../../testing/start-app.ts';

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
