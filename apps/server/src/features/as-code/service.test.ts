import type { ConfigDocument } from '@sallyport/contract';
import { type Actor, type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { withStore } from '../../testing/with-store.ts';
import type { DeclaredKinds, NamedCertificate } from '../declared.ts';
import { createAccessListReverter } from '../protection/access-lists/reverter.ts';
import { createAccessLists } from '../protection/access-lists/service.ts';
import { accessListStore } from '../protection/access-lists/store.ts';
import { declareNotifications } from '../protection/notifications/declared.ts';
import { createNotifications } from '../protection/notifications/service.ts';
import { notificationStore } from '../protection/notifications/store.ts';
import { createRulesetReverter } from '../protection/rulesets/reverter.ts';
import { createRulesets } from '../protection/rulesets/service.ts';
import { rulesetStore } from '../protection/rulesets/store.ts';
import { createLockOutRules } from '../protection/suite/lock-out.ts';
import { createSecurityReverter } from '../protection/suite/reverter.ts';
import { createSecurity } from '../protection/suite/service.ts';
import { securityStore } from '../protection/suite/store.ts';
import { createSettingReverter } from '../system/settings/reverter.ts';
import { createSettings } from '../system/settings/service.ts';
import { settingStore } from '../system/settings/store.ts';
import { createProxyHostReverter } from '../traffic/proxy-hosts/reverter.ts';
import { createProxyHosts } from '../traffic/proxy-hosts/service.ts';
import { proxyHostStore } from '../traffic/proxy-hosts/store.ts';
import { createKeepWayIn } from '../traffic/proxy-hosts/way-in.ts';
import { createRemoteServerReverter } from '../traffic/remote-servers/reverter.ts';
import { createRemoteServers } from '../traffic/remote-servers/service.ts';
import { remoteServerStore } from '../traffic/remote-servers/store.ts';
import { createAsCode } from './service.ts';

const actor: Actor = { ...systemActor('test'), requestId: 'r1', idempotencyId: 'i1' };
const nothing = async (): Promise<void> => {};
const never = () => expect.unreachable('nobody asks this');

/** As it comes: the schema's keys of settings are no literals to the type checker. */
type Document = Omit<Partial<ConfigDocument>, 'settings'> & { settings?: Record<string, string | number | boolean> };
type Given = ReturnType<typeof given>;

/** All kinds of objects as the server has them, on an empty store, without what enforces them. */
const given = ({ kysely: db, transact, transactAside }: Parameters<Parameters<typeof withStore>[0]>[0]) => {
  const [recorded, done] = [[] as ChangeEntry[], [] as string[]];
  const certificates: NamedCertificate[] = [];
  /** What happens while the backup is made. */
  const meanwhile = { work: nothing };
  const vault = createVault('k'.repeat(32));
  const record = async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry);
  const clock = () => new Date('2026-05-02T12:00:00.000Z');
  const common = { db, transact, record, clock };
  const live = (what: string) => async () => void done.push(`live ${what}`);
  const isOwnApi = (host: string, port: number) => host === '127.0.0.1' && port === 8080;

  const hosts = createProxyHosts({
    ...{ ...common, store: proxyHostStore, surroundings: never, checkWayIn: never, recordMany: never },
    plane: { syncHosts: nothing, hostState: () => ({ applied: true, issue: null }) },
    reservedOrigin: () => undefined,
  });
  const servers = createRemoteServers({ ...common, store: remoteServerStore, connect: never });
  const inForce = () => ({ guard: true, acl: true });
  const lists = createAccessLists({
    ...{ ...common, store: accessListStore, country: undefined, changed: nothing, inForce },
  });
  const rulesets = createRulesets({
    ...{ ...common, store: rulesetStore, fetchText: never, changed: nothing },
    rules: {
      tell: never,
      async check(_name, content) {
        if (content === 'wrong') throw refuse.invalid('content is not valid', { details: 'line 1' });
        if (content === 'odd') throw refuse.invalid('Nobody knows such rules');
        if (content === 'crash') throw new Error('the engine crashed');
        return content.length;
      },
    },
  });
  const security = createSecurity({
    ...{ ...common, store: securityStore, rulesetNames: async () => [], checkWebhookUrl: nothing },
    ...{ checkTargets: nothing, isCrowdsecRunning: never, beginSecretAttempt: never, noteFailure: never },
    enforcement: { refresh: nothing, status: never, judging: never },
    lockOut: createLockOutRules(securityStore),
  });
  const notifications = createNotifications({
    ...{ ...common, store: notificationStore, vault, checkWebhookUrl: nothing, otherWebhookUrl: async () => '' },
    ...{ fetch: never, sendMail: never, deliveries: { begin: never } },
  });
  const settings = createSettings({
    ...{ ...common, store: settingStore, vault, noticeOf: async () => '' },
    async check(_tx, key) {
      if (key === 'smtp.from') throw refuse.conflict('no value is taken now');
    },
    changed: async (key) => void done.push(`live settings ${key}`),
  });
  const declared: DeclaredKinds = {
    'proxy-hosts': {
      ...createProxyHostReverter(hosts, { syncHosts: async (ids) => void done.push(`live hosts ${ids}`) }),
      all: async (tx) => (await proxyHostStore(tx).list()).rows,
    },
    'remote-servers': {
      ...createRemoteServerReverter(servers),
      all: async (tx) => (await remoteServerStore(tx).list({}, undefined)).rows,
    },
    'access-lists': {
      ...createAccessListReverter(lists, live('lists')),
      all: (tx) => accessListStore(tx).all(),
    },
    'security/rulesets': {
      ...createRulesetReverter(rulesets, live('rules')),
      all: (tx) => rulesetStore(tx).list(),
      prepare: nothing,
      complete: rulesets.within.complete,
    },
    'security/config': {
      ...createSecurityReverter({ security, changed: live('security') }),
      all: async (tx) => [await security.within.current(tx)],
    },
    'security/notifications/settings': declareNotifications(notifications),
    settings: { ...createSettingReverter(settings), all: (tx) => settingStore(tx).all() },
  };
  const asCode = createAsCode({
    ...{ declared, transact, transactAside, record },
    certificates: async () => [...certificates],
    keepingWayIn: createKeepWayIn({ store: proxyHostStore, isOwnApi }),
    async backUp(reason) {
      done.push(`backup ${reason}`);
      await meanwhile.work();
      return 'a backup';
    },
  });
  const policies: string[] = [];
  return {
    ...{ db, recorded, done, certificates, meanwhile, declared, asCode, policies },
    set: (key: string, value: string) => transact((tx) => settings.within.put(tx, key, value, actor)),
    add: (domain: string, more: object = {}) =>
      transact((tx) =>
        hosts.within.create(tx, { domain, forward_host: '192.0.2.1', forward_port: 80, ...more }, actor, {}),
      ),
    apply: (document: Document, { isDry = false, isPruning = false, by = actor } = {}) =>
      asCode.apply(
        { sallyport: 1, ...document } as unknown as ConfigDocument,
        { isDry, isPruning },
        { actor: by, allows: (policy) => !policies.includes(policy) },
      ),
    stored: () => asCode.export(true),
  };
};
const withAsCode = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore((database) => work(given(database)));

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'no refusal',
    ({ status, message, details }: { status?: number; message: string; details?: string }) =>
      `${status} ${message}${details === undefined ? '' : ` (${details})`}`,
  );

const DOCUMENT = {
  settings: { 'smtp.port': 25 },
  security: { waf_mode: 'monitor' as const },
  notifications: { min_log_level: 'error' as const },
  remote_servers: [{ name: 'rack', host: '192.0.2.1', port: 9 }],
  access_lists: [{ name: 'office', type: 'deny' as const }],
  rulesets: [{ name: 'house', content: 'rules' }],
  proxy_hosts: [
    { domain: 'a.test', forward_host: '192.0.2.1', forward_port: 80, remote_server: 'rack', access_list: 'office' },
    { domain: 'b.test', forward_host: '192.0.2.1', forward_port: 80 },
  ],
};
const MADE = [
  ...['update settings smtp.port', 'update security security', 'update notifications notifications'],
  ...['create remote_servers rack', 'create access_lists office', 'create rulesets house'],
  ...['create proxy_hosts a.test', 'create proxy_hosts b.test'],
];

test('a rehearsal tells what would change, and leaves nothing: no row, no backup, nothing to be confirmed or live', () =>
  withAsCode(async ({ apply, stored, recorded, done }) => {
    const before = await stored();
    const by: Actor = { ...actor, confirm: { withinMs: 60_000 } };
    const { changes, ...rest } = await apply(DOCUMENT, { isDry: true, by });
    expect(rest).toEqual({ applied: false, batch: null, backup: null });
    expect(changes.map(({ section, name, action }) => `${action} ${section} ${name}`)).toEqual(MADE);
    expect(await stored()).toEqual(before);
    expect(done).toEqual([]);
    // All that a change takes was done, by somebody who confirms nothing, and then taken back.
    expect(recorded.length).toBeGreaterThanOrEqual(MADE.length);
    for (const entry of recorded) {
      expect(Object.keys(entry.actor)).not.toContain('confirm');
      expect(Object.keys(entry.actor)).not.toContain('idempotencyId');
      expect(entry.actor.requestId).toBe('r1');
    }
  }));

test('a document is made true in one, after a backup, and goes live once it is stored', () =>
  withAsCode(async ({ apply, stored, recorded, done }) => {
    const { changes } = await apply(DOCUMENT, { isDry: true });
    recorded.length = 0;
    expect(await apply(DOCUMENT)).toEqual({ changes, applied: true, batch: 'r1', backup: 'a backup' });
    expect(await stored()).toEqual({ sallyport: 1, ...DOCUMENT });
    expect(done).toEqual([
      'backup before-apply',
      ...['live lists', 'live rules', 'live hosts 1,2', 'live security', 'live settings smtp.port'],
    ]);
    const last = recorded.at(-1);
    expect(last).toEqual({
      ...{ action: 'config.apply', actor, resource: 'apply' },
      after: { changes: MADE.length, pruned: false, backup: 'a backup' },
    });
    expect(recorded.slice(-MADE.length - 1, -1).map((entry) => entry.actor)).toEqual(MADE.map(() => actor));
    [recorded.length, done.length] = [0, 0];
    for (const isPruning of [false, true]) {
      const none = { changes: [], applied: false, batch: null, backup: null };
      expect(await apply(DOCUMENT, { isPruning })).toEqual(none);
    }
    expect([recorded, done]).toEqual([[], []]);

    const { requestId: _, ...program } = actor;
    const pruned = await apply({ proxy_hosts: [] }, { isPruning: true, by: program });
    expect(pruned).toMatchObject({ applied: true, batch: null, changes: [{ action: 'delete' }, { action: 'delete' }] });
    expect(recorded.at(-1)).toMatchObject({ after: { changes: 2, pruned: true } });
    expect(await stored()).toMatchObject({ remote_servers: DOCUMENT.remote_servers, proxy_hosts: [] });
  }));

test('one step that is refused leaves nothing of the others, and is told by its place', () =>
  withAsCode(async ({ apply, add, stored, done }) => {
    await apply({ remote_servers: DOCUMENT.remote_servers, access_lists: DOCUMENT.access_lists });
    const { id } = await add('taken.test', { remote_server_id: 1 });
    done.length = 0;
    const before = await stored();
    const fresh = { forward_host: '192.0.2.1', forward_port: 80 };
    const settings = { 'smtp.port': 25 };
    const proxy_hosts = (...domains: string[]) => domains.map((domain) => ({ domain, ...fresh }));
    for (const [document, told] of [
      [{ settings, proxy_hosts: proxy_hosts('a.test', 'b c') }, /^400 proxy_hosts\[1\]\.domain "b c" /],
      [
        { proxy_hosts: proxy_hosts('a.test', 'b.test,taken.test') },
        /^409 proxy_hosts\[1\]: domain taken\.test already /,
      ],
      [{ rulesets: [{ name: 'r', content: 'wrong' }] }, /^400 rulesets\[0\]\.content is not valid \(line 1\)$/],
      [
        { rulesets: [{ name: 'r', content: 'rules', source_url: 'ftp://r' }] },
        /^400 rulesets\[0\]\.source_url must be/,
      ],
      [{ rulesets: [{ name: 'r', content: 'odd' }] }, /^400 rulesets\[0\]: Nobody knows such rules$/],
      [{ settings: { 'smtp.from': 'a@b.test' } }, /^409 settings\.smtp\.from: no value is taken now$/],
      [{ rulesets: [{ name: 'r', content: 'crash' }] }, /^undefined the engine crashed$/],
      [{ settings: { 'smtp.port': 'many' } }, /^400 settings\.smtp\.port must be a whole number/],
      [{ security: { admin_whitelist: 'nowhere' } }, /^400 security\.admin_whitelist /],
      [{ proxy_hosts: proxy_hosts('c.test,taken.test'), remote_servers: [] }, /^409 /],
    ] as [Document, RegExp][]) {
      for (const isDry of [true, false]) expect(await refusal(apply(document, { isDry }))).toMatch(told);
    }
    expect(await refusal(apply({ remote_servers: [] }, { isPruning: true }))).toMatch(
      /^409 remote_servers: rack, which is left out: /,
    );
    expect(await stored()).toEqual(before);
    expect(done).toEqual([]);
    expect(id).toBeGreaterThan(0);
  }));

test('whoever may not make a step makes none, and is told which', () =>
  withAsCode(async ({ apply, stored, recorded, done, policies }) => {
    const before = await stored();
    policies.push('administrator');
    expect(await refusal(apply(DOCUMENT))).toBe('403 Admin access required (settings.smtp.port)');
    policies[0] = 'sensitive';
    expect(await refusal(apply(DOCUMENT, { isDry: true }))).toBe('403 Admin access required (remote_servers[0])');
    expect([await stored(), recorded, done]).toEqual([before, [], []]);
    policies[0] = 'administrator';
    const { settings: _, ...others } = DOCUMENT;
    expect(await apply(others)).toMatchObject({ applied: true });
    // A setting that is that already takes no right.
    expect(await apply({ settings: { 'smtp.port': 587 } })).toMatchObject({ applied: false });
  }));

test('what somebody else changed meanwhile is not written over: no matter what', () =>
  withAsCode(async ({ apply, add, set, stored, certificates, meanwhile, done, recorded }) => {
    const document = {
      proxy_hosts: DOCUMENT.proxy_hosts.slice(1),
      settings: { 'smtp.port': 587, 'smtp.host': 'm.test' },
    };
    for (const change of [
      () => add('other.test'),
      // The document says the default, and the plan had nothing to do for it.
      () => set('smtp.port', '2525'),
      async () => void certificates.push({ id: 1, uuid: 'c', name: 'c', domains: 'c.test' }),
    ]) {
      let after: ConfigDocument | undefined;
      meanwhile.work = async () => {
        await change();
        after = await stored();
        [recorded.length, done.length] = [0, 0];
      };
      expect(await refusal(apply(document))).toBe('409 The configuration has been changed meanwhile');
      expect(await stored()).toEqual(after);
      expect([recorded, done]).toEqual([[], []]);
    }
    meanwhile.work = nothing;
    expect(await apply(document)).toMatchObject({ applied: true });
    expect(await stored()).toMatchObject({ settings: { 'smtp.host': 'm.test' } });
    expect((await stored()).settings).not.toHaveProperty('smtp.port');
  }));

test('without a backup nothing is changed', () =>
  withAsCode(async ({ apply, stored, meanwhile }) => {
    const before = await stored();
    meanwhile.work = async () => {
      throw new Error('no space left');
    };
    await expect(apply(DOCUMENT)).rejects.toThrow('no space left');
    expect(await stored()).toEqual(before);
  }));

test('who came through the proxy keeps the way in, unless the change goes back by itself', () =>
  withAsCode(async ({ apply, add, stored, done }) => {
    await add('manage.test', { forward_host: '127.0.0.1', forward_port: 8080, forward_reserved: true });
    const before = await stored();
    const by: Actor = { ...actor, isProxied: true };
    const lockOut = /^409 This could lock you out: manage\.test would not lead /;
    for (const isDry of [true, false]) {
      expect(await refusal(apply({ proxy_hosts: [] }, { isPruning: true, isDry, by }))).toMatch(lockOut);
    }
    expect([await stored(), done]).toEqual([before, []]);
    const confirm = { withinMs: 60_000 };
    const confirmed: Actor = { ...by, confirm };
    expect(await apply({ proxy_hosts: [] }, { isPruning: true, isDry: true, by: confirmed })).toMatchObject({
      changes: [{ name: 'manage.test', action: 'delete' }],
    });
    expect(await apply({ proxy_hosts: [] }, { isPruning: true, by: confirmed })).toMatchObject({ applied: true });
  }));

test('what is stored goes live though something else can not', () =>
  withAsCode(async ({ apply, declared, done, stored }) => {
    declared['access-lists'].settle = async () => {
      throw new Error('the guards are gone');
    };
    await expect(apply(DOCUMENT)).rejects.toThrow('the guards are gone');
    expect(done).toContain('live hosts 1,2');
    expect(await stored()).toEqual({ sallyport: 1, ...DOCUMENT });
  }));

test('rules are checked, and counted, as a whole before they are stored', () =>
  withAsCode(async ({ apply, db }) => {
    await apply(DOCUMENT);
    await apply({ rulesets: [{ name: 'house', content: 'more rules' }] });
    const [stored] = await rulesetStore(db).list();
    expect(stored).toMatchObject({ name: 'house', content: 'more rules', rule_count: 10, mode: 'owasp' });
    expect(await refusal(apply({ rulesets: [{ name: 'house', content: 'wrong' }] }))).toMatch(
      /^400 rulesets\[0\]\.content /,
    );
    expect(await apply({ rulesets: [] }, { isPruning: true })).toMatchObject({ changes: [{ action: 'delete' }] });
    expect(await rulesetStore(db).list()).toEqual([]);
  }));
