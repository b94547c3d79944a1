import type { SecurityStatus, WafExclusion } from '@sallyport/contract';
import { type Actor, type ChangeEntry, systemActor, type UserIdentity } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createThrottle } from '../../accounts/auth/throttle.ts';
import { createLockOutRules } from './lock-out.ts';
import { createSecurityReverter } from './reverter.ts';
import { createSecurity } from './service.ts';
import { securityStore } from './store.ts';

const here: Actor = { ...systemActor('test'), identity: { kind: 'local' }, ip: '127.0.0.1' };
const outside: Actor = { ...here, identity: { kind: 'anonymous' }, ip: '192.0.2.7', isLocal: false };

interface Given {
  security: ReturnType<typeof createSecurity>;
  store: ReturnType<typeof securityStore>;
  recorded: ChangeEntry[];
  /** Actions of refusals that were written down. */
  failures: unknown[];
  refreshed: () => number;
  world: { runs: boolean; names: string[]; told: Parameters<typeof createSecurity>[0]['enforcement'] };
  isOn: () => Promise<boolean>;
  db: Executor;
}

const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    const [recorded, failures] = [[] as ChangeEntry[], [] as unknown[]];
    let refreshed = 0;
    const clock = () => new Date('2026-05-02T12:00:00.000Z');
    const throttle = createThrottle(clock);
    const store = securityStore(db);
    const world: Given['world'] = {
      runs: true,
      names: ['mine'],
      told: {
        refresh: async () => void refreshed++,
        status: () => ({ applied: true, issue: null, revision: 3 }),
        judging: async () => ({ isJudged: true, issue: null }),
      },
    };
    const security = createSecurity({
      db,
      transact,
      store: securityStore,
      rulesetNames: async () => world.names,
      checkWebhookUrl: async () => {},
      checkTargets: async () => {},
      enforcement: {
        refresh: () => world.told.refresh(),
        status: () => world.told.status(),
        judging: () => world.told.judging(),
      },
      isCrowdsecRunning: () => world.runs,
      lockOut: createLockOutRules(securityStore),
      beginSecretAttempt: (resource, { ip, isLocal }) =>
        throttle.begin({ account: resource, ip, isLocal }, async () => {}),
      noteFailure: async ({ action, after }) => void failures.push([action, after]),
      record: async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry),
      clock,
    });
    const isOn = async () => (await store.switches()).guard;
    await work({ security, store, recorded, failures, refreshed: () => refreshed, world, isOn, db });
  });

test('the token that is in force opens once, and its guesses are forgotten; others are refused, counted and written down', () =>
  given(async ({ security, isOn, failures, store }) => {
    const token = await security.generateToken(here);
    await security.enable(token, outside);
    expect(await isOn()).toBe(true);
    const refused = (given: string | undefined) =>
      security.disable(given, false, outside).then(
        () => 'off',
        ({ status }: { status: number }) => status,
      );
    // Before the right one more wrong ones than one address has, in two portions: in between it was right.
    for (let tried = 0; tried < 4; tried++) expect(await refused('a'.repeat(64))).toBe(401);
    await security.enable(token, outside);
    for (let tried = 0; tried < 3; tried++) expect(await refused('a'.repeat(64))).toBe(401);
    for (const none of [undefined, '', ' ']) expect(await refused(none)).toBe(401);
    expect(await isOn()).toBe(true);
    expect(failures).toHaveLength(10);
    expect(failures[0]).toEqual(['security.disable_refused', { reason: 'wrong token' }]);
    expect(failures[7]).toEqual(['security.disable_refused', { reason: 'no token' }]);
    // Of two that come with it at once one uses it up.
    const both = await Promise.all([refused(` ${token}\n`), refused(token)]);
    expect(both.toSorted()).toEqual([401, 'off']);
    expect([await isOn(), await store.tokenHash()]).toEqual([false, undefined]);
  }));

test('who is trusted here needs no token, and leaves it in force; a program makes none for itself', () =>
  given(async ({ security, isOn, store, recorded, refreshed }) => {
    const token = await security.generateToken(here);
    await security.enable(token, outside);
    await security.disable(undefined, true, here);
    expect([await isOn(), await store.tokenHash()]).toEqual([false, expect.any(String)]);
    expect(refreshed()).toBe(2);
    expect(recorded.map(({ action, before, after }) => [action, before, after])).toEqual([
      ['security.breakglass_generate', undefined, undefined],
      ['security.enable', { enabled: false }, { enabled: true }],
      ['security.disable', { enabled: true }, { enabled: false }],
    ]);
    expect(recorded[1]?.history).toEqual([
      { resource: 'settings/feature.guard.enabled', before: { value: 'false' }, after: { value: 'true' } },
    ]);
    const byToken = { ...outside, identity: { kind: 'user', sessionId: null } as UserIdentity };
    await expect(security.generateToken(byToken)).rejects.toMatchObject({ status: 403 });
  }));

test('a store that fails while a token is tried counts against nobody', () =>
  withStore(async ({ kysely: db, transact }) => {
    const ended: string[] = [];
    const attempt = { succeeded: () => void ended.push('succeeded'), withdraw: () => void ended.push('withdrawn') };
    await db.schema.dropTable('break_glass_tokens').execute();
    const security = createSecurity({
      ...({ db, transact, store: securityStore, lockOut: createLockOutRules(securityStore) } as never as Parameters<
        typeof createSecurity
      >[0]),
      beginSecretAttempt: async () => attempt,
    });
    await expect(security.disable('x', false, outside)).rejects.toThrow(/no such table/);
    expect(ended).toEqual(['withdrawn']);
  }));

test('what is configured but can not act is said to whoever configures it', () =>
  given(async ({ security, world }) => {
    const said = async (patch: object) => (await security.configure(patch, here)).warning;
    expect(await said({ crowdsec_mode: 'local', waf_rules_source: ' mine ' })).toBeUndefined();
    world.runs = false;
    expect(await said({})).toMatch(/^crowdsec_mode is local, but CrowdSec does not run here/);
    expect(await said({ crowdsec_mode: 'disabled' })).toBeUndefined();
    world.names = [];
    expect(await said({})).toMatch(/^no ruleset is named "mine"/);
    expect(await said({ waf_rules_source: ' owasp ' })).toBeUndefined();
    expect(await said({ waf_rules_source: ' ' })).toBeUndefined();
    expect((await security.config()).config).toMatchObject({ waf_rules_source: 'owasp' });
    await security.configure({ admin_whitelist: '192.0.2.0/24', enabled: true }, outside);
    expect(await said({ waf_mode: 'monitor' })).toBeUndefined();
    expect(await said({ admin_whitelist: '' })).toMatch(/^admin_whitelist is empty while the suite is on/);
    await expect(said({ name: ' ' })).rejects.toMatchObject({ status: 400 });
  }));

test('the switch in the configuration follows the rules of the switch', () =>
  given(async ({ security, isOn, recorded }) => {
    const set = (enabled: boolean, actor: Actor, more = {}) => security.configure({ enabled, ...more }, actor);
    await expect(set(true, outside)).rejects.toMatchObject({ status: 400 });
    await expect(set(true, outside, { admin_whitelist: '198.51.100.0/24' })).rejects.toMatchObject({ status: 400 });
    // A refused change is none, the whitelist included.
    expect(await security.config()).toEqual({ config: null });
    await set(true, outside, { admin_whitelist: '192.0.2.7' });
    expect(await isOn()).toBe(true);
    await expect(set(false, outside)).rejects.toMatchObject({ status: 403 });
    expect(await isOn()).toBe(true);
    const { length } = recorded;
    // What it is already takes nothing, and is no change of the switch.
    expect((await set(true, outside)).config).toMatchObject({ enabled: true });
    expect(recorded.slice(length).map(({ action }) => action)).toEqual(['security.configure']);
    expect((await set(false, here)).config).toMatchObject({ enabled: false });
    expect(await isOn()).toBe(false);
    await expect(
      security.configure({}, here, () => {
        throw new Error('another version');
      }),
    ).rejects.toThrow('another version');
  }));

test('an exclusion is added once, beside those there are, and no more than fit', () =>
  given(async ({ security, store, recorded, refreshed }) => {
    const exclusion: WafExclusion = { rule_id: 942100, target: 'ARGS:a', path: '/p', host_uuid: 'ab' };
    const all = async () => (await store.config())?.waf_exclusions ?? [];
    await security.exclude(exclusion, here);
    await security.exclude({ ...exclusion, description: 'the same' }, here);
    expect(await all()).toEqual([{ ...exclusion, description: '' }]);
    const others: Partial<WafExclusion>[] = [
      { rule_id: 942101 },
      { target: 'ARGS:b' },
      { path: '/q' },
      { host_uuid: 'cd' },
      { expires_at: '2027-01-01T00:00:00.000Z' },
    ];
    for (const other of others) await security.exclude({ ...exclusion, ...other }, here);
    expect(await all()).toHaveLength(6);
    expect(recorded.map(({ action, history }) => [action, history?.length])).toEqual(
      Array(6).fill(['security.exclude', 1]),
    );
    expect(refreshed()).toBe(7);
    const config = await store.config();
    if (!config) throw new Error('there is none');
    const many = Array.from({ length: 999 }, (_, index) => ({ rule_id: index + 1 }));
    await store.setConfig({ ...config, waf_exclusions: many });
    await security.exclude({ rule_id: 1_000 }, here);
    await expect(security.exclude({ rule_id: 1_001 }, here)).rejects.toMatchObject({ status: 409 });
    expect(await all()).toHaveLength(1_000);
  }));

test('nothing is told as enforced that is not: CrowdSec, guards and what HAProxy was told', () =>
  given(async ({ security, store, world, db }) => {
    const told = async (): Promise<Pick<SecurityStatus, 'applied' | 'issue'>> => {
      const { applied, issue } = await security.status();
      return { applied, issue };
    };
    await security.configure({ crowdsec_mode: 'local', admin_whitelist: '127.0.0.1', enabled: true }, here);
    world.runs = false;
    // Its own switch is off: it is missed by nobody.
    expect((await store.switches()).crowdsec).toBe(false);
    expect(await told()).toEqual({ applied: true, issue: null });
    expect(await security.status()).toMatchObject({
      ...{ enabled: true, guard: { enabled: true }, waf: { enabled: false, mode: 'block' }, revision: 3 },
      crowdsec: { enabled: false, mode: 'local', running: false },
      ...{ acl: { enabled: false, mode: 'disabled' }, rate_limit: { enabled: false, mode: 'disabled' } },
    });
    const value = 'true';
    await db.insertInto('settings').values({ key: 'security.crowdsec.enabled', value }).execute();
    expect(await told()).toEqual({ applied: false, issue: expect.stringMatching(/^CrowdSec is switched on but does/) });
    world.runs = true;
    expect(await told()).toEqual({ applied: true, issue: null });
    world.told.judging = async () => ({ isJudged: true, issue: 'one guard is away' });
    expect(await told()).toEqual({ applied: true, issue: 'one guard is away' });
    world.told.judging = async () => ({ isJudged: false, issue: 'no guard answers' });
    world.told.status = () => ({ applied: true, issue: 'x', revision: 4 });
    expect(await told()).toEqual({ applied: false, issue: 'no guard answers; x' });
    world.told.judging = async () => ({ isJudged: true, issue: null });
    world.told.status = () => ({ applied: false, issue: 'x', revision: 4 });
    expect(await told()).toEqual({ applied: false, issue: 'x' });
  }));

test('the configuration goes back field by field, checked like any change of it, and is always there', () =>
  given(async ({ security, db, recorded, store }) => {
    let settled = 0;
    const reverter = createSecurityReverter({ security, changed: async () => void settled++ });
    expect(reverter.policy).toBe('sensitive');
    expect(await reverter.show('')).toBeUndefined();
    expect(await reverter.current(db, '')).toMatchObject({ waf_mode: 'block', waf_exclusions: [] });
    await security.configure({ waf_mode: 'monitor', admin_whitelist: '192.0.2.1', name: 'kept' }, here);
    const back = (fields: object) => ({ does: 'update', key: 'k', fields: { ...fields } }) as const;
    const undoing = back({ waf_mode: 'block', admin_whitelist: '10.1.2.3/8', enabled: true, unknown: 1 });
    await reverter.prepare?.(undoing);
    expect(await reverter.apply(db, undoing, here)).toEqual({ key: 'k', id: 1 });
    const fields = { waf_mode: 'block', admin_whitelist: '10.0.0.0/8', name: 'kept' };
    expect(await store.config()).toMatchObject(fields);
    expect(await reverter.current(db, '')).toMatchObject(fields);
    // The switch is a setting, with a history of its own.
    expect(await reverter.show('')).toMatchObject({ ...fields, enabled: false });
    expect(recorded.at(-1)).toMatchObject({ action: 'security.configure', history: [{ resource: 'security/config' }] });
    await expect(reverter.prepare?.(back({ admin_whitelist: 'x' }))).rejects.toMatchObject({ status: 400 });
    const gone = { does: 'remove', key: '' } as const;
    await reverter.prepare?.(gone);
    await expect(reverter.apply(db, gone, here)).rejects.toMatchObject({ status: 409 });
    await reverter.settle([]);
    expect(settled).toBe(1);
  }));
