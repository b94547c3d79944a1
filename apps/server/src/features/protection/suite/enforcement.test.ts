import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GuardConfig } from '@sallyport/contract';
import { systemActor } from '@sallyport/store/actor';
import { migrate } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import type { EnforcementPlane } from '../../../dataplane/protection/port.ts';
import { emptyStore, onBothDatabases } from '../../../testing/start-app.ts';
import { type Enforced, startEnforced } from '../../../testing/start-enforced.ts';
import { createDecisions } from '../decisions/service.ts';
import { decisionStore } from '../decisions/store.ts';
import type { CoreRuleSet } from '../rulesets/core-rule-set.ts';
import { createSecuritySource } from '../stored.ts';
import { createEnforcement, type Enforcement } from './enforcement.ts';
import { createGuardConfigFile, guardConfigPath } from './guard-config-file.ts';

/** The plane of this process, and the order in which it is told. */
const noted = (plane: EnforcementPlane, order: string[]): EnforcementPlane => {
  const note = <T>(what: string, done: T): T => {
    order.push(what);
    return done;
  };
  return {
    applyDecisions: (change) => note(`bans ${change.type}`, plane.applyDecisions(change)),
    applyWhitelist: (networks) => note('whitelist', plane.applyWhitelist(networks)),
    applyRateLimit: (rateLimit) => note('rate limit', plane.applyRateLimit(rateLimit)),
    applySwitches: (switches) => note('switches', plane.applySwitches(switches)),
    applyTraffic: (isWanted) => note('traffic', plane.applyTraffic(isWanted)),
    applyGuardConfig: (guard) => note('guards', plane.applyGuardConfig(guard)),
    judges: plane.judges,
  };
};

const readGuardFile = (dataDir: string) => JSON.parse(readFileSync(guardConfigPath(dataDir), 'utf8')) as GuardConfig;

/** A core rule set that compiles at once. */
const givenRules = (directory: string): CoreRuleSet => {
  const [setup, rules] = [join(directory, 'setup.conf'), join(directory, 'rules.conf')];
  writeFileSync(setup, 'SecRuleEngine On\n');
  writeFileSync(rules, 'SecRule ARGS "@contains attack" "id:1001,phase:2,deny,log"\n');
  return { directory, setup: [setup], rules: [rules] };
};

const START = Date.parse('2026-11-20T12:00:00.000Z');
const actor = systemActor('test');

interface Given {
  database: Database;
  dataDir: string;
  enforcement: Enforcement;
  /** A real HAProxy. */
  haproxy: Enforced;
  /** Networks that it refuses, sorted. */
  bans(): Promise<string[]>;
  /** What the plane was told, in order. */
  order: string[];
  /** Decisions of this node. */
  decisions: ReturnType<typeof createDecisions>;
  /** Decisions as another node makes them: this one's enforcement is not told. */
  elsewhere: ReturnType<typeof createDecisions>;
  advance(ms: number): void;
  setSetting(key: string, value: string): Promise<void>;
}

onBothDatabases('enforcement', (kind) => {
  const given = (work: (given: Given) => Promise<void>) =>
    emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      const haproxy = await startEnforced(config);
      try {
        await migrate(database);
        let now = START;
        const clock = () => new Date(now);
        const order: string[] = [];
        const rules = givenRules(config.dataDir);
        const enforcement = createEnforcement({
          source: createSecuritySource(database.kysely, () => false),
          plane: noted(haproxy.plane, order),
          guardFile: createGuardConfigFile(config.dataDir),
          core: () => rules,
          clock,
          log: pino({ level: 'silent' }),
        });
        const common = {
          db: database.kysely,
          transact: database.transact,
          store: decisionStore,
          whitelist: async () => [],
          inForce: enforcement.inForce,
          record: async () => {},
          clock,
        };
        await work({
          database,
          dataDir: config.dataDir,
          enforcement,
          haproxy,
          bans: async () => [...(await haproxy.bans()).keys()].sort(),
          order,
          decisions: createDecisions({ ...common, plane: enforcement }),
          elsewhere: createDecisions({ ...common, plane: { decisionsChanged: async () => {} } }),
          advance(ms) {
            now += ms;
          },
          async setSetting(key, value) {
            await database.transact((tx) =>
              tx
                .insertInto('settings')
                .values({ key, value })
                .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
                .execute(),
            );
          },
        });
      } finally {
        await haproxy.stop();
        await database.stop();
      }
    });

  const ban = ({ decisions }: Given, ip: string, duration?: string) =>
    decisions.create({ ip, action: 'block', ...(duration === undefined ? {} : { duration }) }, actor);

  test('enforces nothing while the master switch is off, and everything once it is on', () =>
    given(async (it) => {
      const guard = await it.haproxy.startGuard();
      await it.setSetting('security.waf.enabled', 'true');
      await it.setSetting('security.rate_limit.enabled', 'true');
      await ban(it, '203.0.113.7');
      await it.enforcement.replay();
      expect(await it.bans()).toEqual([]);
      expect(await it.haproxy.limit()).toBe(0);
      expect(await it.haproxy.switches()).toMatchObject({ judgeAccess: false, judgeWaf: false, failMode: 'closed' });
      expect(readGuardFile(it.dataDir)).toMatchObject({ access: { enabled: false }, waf: { enabled: false } });
      await it.setSetting('feature.guard.enabled', 'true');
      await it.enforcement.refresh();
      expect(await it.bans()).toEqual(['203.0.113.7']);
      expect(await it.haproxy.limit()).toBe(120);
      expect(await it.haproxy.switches()).toMatchObject({ judgeAccess: false, judgeWaf: true, failMode: 'closed' });
      expect(readGuardFile(it.dataDir)).toMatchObject({ waf: { enabled: true, mode: 'block' } });
      expect((await guard.stats()).revision).toBe(readGuardFile(it.dataDir).revision);
      expect(it.enforcement.status()).toMatchObject({ applied: true, issue: null });
    }));

  test('the guards know their configuration before anybody asks them, and the whitelist comes first of all', () =>
    given(async (it) => {
      await it.enforcement.replay();
      const { order } = it;
      expect(order.toSorted()).toEqual(['bans replace', 'guards', 'rate limit', 'switches', 'whitelist']);
      expect(order[0]).toBe('whitelist');
      expect(order.indexOf('guards')).toBeLessThan(order.indexOf('switches'));
    }));

  test('a switch that another process turns acts without anybody telling', () =>
    given(async (it) => {
      await it.enforcement.replay();
      const watch = it.enforcement.watch();
      await ban(it, '203.0.113.7');
      await it.setSetting('feature.guard.enabled', 'true');
      await eventually(it.bans).toEqual(['203.0.113.7']);
      await it.setSetting('feature.guard.enabled', 'false');
      await eventually(it.bans).toEqual([]);
      await watch.stop();
    }));

  test('ended decisions leave the store also while the suite is off', () =>
    given(async (it) => {
      await it.enforcement.replay();
      const watch = it.enforcement.watch();
      await ban(it, '203.0.113.7', '1h');
      it.advance(3_600_000);
      const rows = () => it.database.kysely.selectFrom('decisions').select('ip').execute();
      await eventually(rows).toEqual([]);
      await watch.stop();
    }));

  test('guards that hang hold up neither bans nor what is switched off', () =>
    given(async (it) => {
      const guard = await it.haproxy.startGuard();
      const { switches } = it.haproxy;
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.waf.enabled', 'true');
      await it.enforcement.replay();
      expect(await switches()).toMatchObject({ judgeWaf: true });
      guard.kill('SIGSTOP');
      await it.setSetting('security.acl.enabled', 'true');
      const waiting = it.enforcement.refresh();
      await ban(it, '203.0.113.7');
      expect(await it.bans()).toEqual(['203.0.113.7']);
      // What they don't know yet they are not asked.
      expect(await switches()).toMatchObject({ judgeWaf: true, judgeAccess: false });
      await it.setSetting('feature.guard.enabled', 'false');
      const off = it.enforcement.refresh();
      await eventually(switches).toMatchObject({ judgeWaf: false, judgeAccess: false });
      await eventually(it.bans).toEqual([]);
      expect(it.enforcement.status().applied).toBe(false);
      guard.kill('SIGCONT');
      await Promise.all([waiting, off]);
      expect(await switches()).toMatchObject({ judgeWaf: false, judgeAccess: false });
      expect(readGuardFile(it.dataDir)).toMatchObject({ access: { enabled: false } });
      expect(it.enforcement.status()).toMatchObject({ applied: true, issue: null });
    }));

  test('what could not be read of the store is read again', () =>
    given(async (it) => {
      await it.enforcement.replay();
      const watch = it.enforcement.watch();
      const rename = (from: string, to: string) => it.database.kysely.schema.alterTable(from).renameTo(to).execute();
      await rename('rulesets', 'rulesets_elsewhere');
      await it.setSetting('feature.guard.enabled', 'true');
      await expect(it.enforcement.refresh()).rejects.toThrow('rulesets');
      expect(it.enforcement.status()).toMatchObject({ applied: false, issue: 'what is stored could not be read' });
      await rename('rulesets_elsewhere', 'rulesets');
      await rename('decisions', 'decisions_elsewhere');
      await eventually(() => it.enforcement.status().applied).toBe(false);
      await rename('decisions_elsewhere', 'decisions');
      await ban(it, '203.0.113.7');
      await eventually(it.bans).toEqual(['203.0.113.7']);
      await eventually(() => it.enforcement.status()).toMatchObject({ applied: true, issue: null });
      await watch.stop();
    }));

  test('a configuration that could not be written is written as soon as it can be', () =>
    given(async (it) => {
      const guard = await it.haproxy.startGuard();
      await it.enforcement.replay();
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.acl.enabled', 'true');
      // Where the file should go is something else: what a full disk does, without one.
      const inTheWay = guardConfigPath(it.dataDir);
      rmSync(inTheWay);
      mkdirSync(inTheWay);
      await it.enforcement.refresh();
      expect(it.enforcement.status()).toMatchObject({ applied: false, issue: expect.stringContaining('EISDIR') });
      // Asked for all the same, of what guards have: they refuse what that lacks.
      expect(await it.haproxy.switches()).toMatchObject({ judgeAccess: true, policy: 1 });
      const watch = it.enforcement.watch();
      rmSync(inTheWay, { recursive: true });
      it.advance(1_000);
      await eventually(() => it.enforcement.status()).toMatchObject({ applied: true, issue: null });
      const { access, revision } = readGuardFile(it.dataDir);
      expect(access.enabled).toBe(true);
      expect((await it.haproxy.switches()).policy).toBe(revision);
      expect((await guard.stats()).revision).toBe(revision);
      await watch.stop();
    }));

  test('verdicts count from the revision on that all guards were seen to serve', () =>
    given(async (it) => {
      const guard = await it.haproxy.startGuard();
      await it.enforcement.replay();
      expect(await it.haproxy.switches()).toMatchObject({ policy: 1 });
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.waf.enabled', 'true');
      guard.kill('SIGSTOP');
      const refreshing = it.enforcement.refresh();
      await eventually(() => readGuardFile(it.dataDir).revision).toBe(2);
      expect(await it.haproxy.switches()).toMatchObject({ judgeWaf: false, policy: 1 });
      guard.kill('SIGCONT');
      await refreshing;
      expect(await it.haproxy.switches()).toMatchObject({ judgeWaf: true, policy: 2 });
    }));

  test('guards are not held to having forgotten a list as long as a route may ask for it', () =>
    given(async (it) => {
      await it.haproxy.startGuard();
      const policy = async () => (await it.haproxy.switches()).policy;
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.acl.enabled', 'true');
      await it.enforcement.replay();
      const before = await policy();
      const live = [await it.enforcement.hostsChanged([7]), await it.enforcement.hostsChanged([8])];
      await it.setSetting('security.waf.enabled', 'true');
      await it.enforcement.refresh();
      expect(readGuardFile(it.dataDir).revision).toBe(before + 1);
      // What they do know of is asked for at once.
      expect(await it.haproxy.switches()).toMatchObject({ judgeWaf: true, policy: before });
      live[0]?.();
      await it.enforcement.refresh();
      expect(await policy()).toBe(before);
      live[1]?.();
      await eventually(policy).toBe(before + 1);
    }));

  test.each([
    ['emptied', ''],
    ['cut', '{"revision":1,"access":{"en'],
    ['replaced by an older one', '{"revision":1}'],
  ])('a configuration that was %s is written again, as a newer one', (_, text) =>
    given(async (it) => {
      await it.haproxy.startGuard();
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.acl.enabled', 'true');
      await it.enforcement.replay();
      const path = guardConfigPath(it.dataDir);
      const before = readGuardFile(it.dataDir).revision;
      const watch = it.enforcement.watch();
      writeFileSync(path, text);
      await eventually(() => readFileSync(path, 'utf8')).toContain('"enabled":true');
      const { revision } = readGuardFile(it.dataDir);
      expect(revision).toBeGreaterThan(before);
      await eventually(async () => (await it.haproxy.switches()).policy).toBe(revision);
      await watch.stop();
    }),
  );

  test('what is on its way is not called applied', () =>
    given(async (it) => {
      const guard = await it.haproxy.startGuard();
      await it.enforcement.replay();
      guard.kill('SIGSTOP');
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.waf.enabled', 'true');
      const done = it.enforcement.refresh();
      await eventually(() => it.enforcement.status()).toMatchObject({
        applied: false,
        issue: 'a change of the guards is being applied',
      });
      guard.kill('SIGCONT');
      await done;
      expect(it.enforcement.status()).toMatchObject({ applied: true, issue: null });
    }));

  describe('bans', () => {
    const enabled = (work: (given: Given) => Promise<void>) =>
      given(async (it) => {
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

  test("the guards' configuration is one file for nobody else, and its revision grows only with its content", () =>
    given(async (it) => {
      await it.enforcement.replay();
      const path = guardConfigPath(it.dataDir);
      const read = () => readGuardFile(it.dataDir);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(read().revision).toBe(1);
      await it.enforcement.refresh();
      await ban(it, '203.0.113.7');
      expect(read().revision).toBe(1);
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.acl.enabled', 'true');
      await it.enforcement.refresh();
      expect(read()).toMatchObject({ revision: 2, access: { enabled: true, lists: [] } });
      expect(createGuardConfigFile(it.dataDir).revision()).toBe(2);
    }));
});
