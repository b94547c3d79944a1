import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { ban, type Given, givenEnforcement, readGuardFile } from '../../../testing/given-enforcement.ts';
import { onBothDatabases } from '../../../testing/start-app.ts';
import { proxyHostStore } from '../../traffic/proxy-hosts/store.ts';
import { createGuardConfigFile, guardConfigPath } from './guard-config-file.ts';

onBothDatabases('enforcement', (kind) => {
  const given = (work: (given: Given) => Promise<void>) => givenEnforcement(kind, work);

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

  test('an emergency reset while a restored store is told leaves nobody out, not even for a moment', () =>
    given(async (it) => {
      await it.setSetting('feature.guard.enabled', 'true');
      await it.enforcement.replay();
      await it.enforcement.hold();
      it.order.length = 0;
      await it.enforcement.startOver();
      expect(it.order).not.toContain('release');
      // The state was read with everything on.
      it.resetWhenToldOf('whitelist');
      it.order.length = 0;
      await it.enforcement.startOver();
      expect(it.order.indexOf('release')).toBeGreaterThan(it.order.indexOf('whitelist'));
      expect(it.order.indexOf('release')).toBeLessThan(it.order.indexOf('bans replace'));
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

  test('what can not be read is tried again after a pause, and at once when something else is stored', () =>
    given(async (it) => {
      const { counts } = it;
      await it.enforcement.replay();
      const rename = (from: string, to: string) => it.database.kysely.schema.alterTable(from).renameTo(to).execute();
      await rename('rulesets', 'rulesets_elsewhere');
      await it.setSetting('feature.guard.enabled', 'true');
      const before = counts.reads;
      const watch = it.enforcement.watch();
      await eventually(() => counts.reads).toBe(before + 1);
      // No time passes: it looks on, and reads no more.
      const looks = counts.looks;
      await eventually(() => counts.looks).toBeGreaterThan(looks + 5);
      expect(counts.reads).toBe(before + 1);
      await it.setSetting('security.rate_limit.enabled', 'true');
      await eventually(() => counts.reads).toBe(before + 2);
      it.advance(60_000);
      await eventually(() => counts.reads).toBe(before + 3);
      expect(it.enforcement.status()).toMatchObject({ applied: false });
      await rename('rulesets_elsewhere', 'rulesets');
      it.advance(60_000);
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
      // What no list has passed is not remembered either.
      expect(await it.haproxy.switches()).toMatchObject({ policy: 1, remembered: 0 });
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.acl.enabled', 'true');
      await it.enforcement.refresh();
      expect(await it.haproxy.switches()).toMatchObject({ policy: 2, remembered: 2 });
      await it.setSetting('security.waf.enabled', 'true');
      guard.kill('SIGSTOP');
      const refreshing = it.enforcement.refresh();
      await eventually(() => readGuardFile(it.dataDir).revision).toBe(3);
      // What it passed before is forgotten before any guard can know better.
      expect(await it.haproxy.switches()).toMatchObject({ judgeWaf: false, policy: 2, remembered: 0 });
      guard.kill('SIGCONT');
      await refreshing;
      expect(await it.haproxy.switches()).toMatchObject({ judgeWaf: true, policy: 3, remembered: 3 });
    }));

  test('hosts that are judged anew are closed before guards are told, until nothing older counts', () =>
    given(async (it) => {
      await it.haproxy.startGuard();
      const change = (change: (hosts: ReturnType<typeof proxyHostStore>) => Promise<{ id: number }>) =>
        it.database.transact((tx) => change(proxyHostStore(tx)));
      const at = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };
      const host = { ...PROXY_HOST_DEFAULTS, domain: 'one.test', forward_host: '127.0.0.1', forward_port: 1 };
      const { id } = await change((hosts) => hosts.insert({ ...host, ...at, uuid: crypto.randomUUID() }, ['one.test']));
      const { updated_at } = at;
      const told = async (waf_enabled: boolean) => {
        await change((hosts) => hosts.update(id, { waf_enabled, updated_at }, undefined));
        it.order.length = 0;
        await it.enforcement.refresh();
        return it.order;
      };
      await it.enforcement.replay();
      // Nobody is judged yet.
      expect(await told(false)).not.toContain(`close ${id}`);
      await it.setSetting('feature.guard.enabled', 'true');
      await it.setSetting('security.waf.enabled', 'true');
      await it.enforcement.refresh();
      expect((await told(true)).slice(-4)).toEqual([`close ${id}`, 'guards', 'switches', 'open']);
      expect(await told(true)).toEqual([]);
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
      expect(await it.haproxy.switches()).toMatchObject({ judgeWaf: true, policy: before, remembered: 0 });
      live[0]?.();
      await it.enforcement.refresh();
      expect(await it.haproxy.switches()).toMatchObject({ policy: before, remembered: 0 });
      live[1]?.();
      await eventually(it.haproxy.switches).toMatchObject({ policy: before + 1, remembered: before + 1 });
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
