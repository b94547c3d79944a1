import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createDecisions } from './service.ts';
import { decisionStore } from './store.ts';

const actor = systemActor('crowdsec');
const HOUR_MS = 3_600_000;

interface Given {
  decisions: ReturnType<typeof createDecisions>;
  store: ReturnType<typeof decisionStore>;
  /** What enforcement was told since the last call: the version, and the networks. */
  told: () => string[];
  /** What was written down since the last call. */
  recorded: () => ChangeEntry[];
  pass: (ms: number) => void;
  now: () => string;
  banned: (source?: string) => Promise<string[]>;
  whitelist: string[];
}

const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    let time = Date.parse('2026-05-02T12:00:00.000Z');
    const [told, recorded, whitelist] = [[] as string[], [] as ChangeEntry[], [] as string[]];
    const store = decisionStore(db);
    const decisions = createDecisions({
      db,
      transact,
      store: decisionStore,
      whitelist: async () => whitelist,
      plane: {
        async decisionsChanged(networks, version) {
          // It is told of what is stored, and never before.
          expect(version).toBe(await store.version());
          told.push([version, ...[...networks].sort()].join(' '));
        },
      },
      inForce: () => ({ guard: true, crowdsec: false }),
      record: async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry),
      clock: () => new Date(time),
    });
    await work({
      decisions,
      store,
      told: () => told.splice(0),
      recorded: () => recorded.splice(0),
      pass: (ms) => {
        time += ms;
      },
      now: () => new Date(time).toISOString(),
      banned: async (source = 'crowdsec') => (await decisions.ofSource(source)).map(({ ip }) => ip).sort(),
      whitelist,
    });
  });

const END = '2026-05-02T13:00:00.000Z';
const ban = (ip: string, details = 'x', expires_at: string | null = END) => ({ ip, details, expires_at });

test('a full list replaces that of its source, touching only what differs', () =>
  given(async ({ decisions, store, told, recorded, banned, now }) => {
    await decisions.create({ ip: '198.51.100.1', action: 'block' }, actor);
    const all = [ban('198.51.100.1'), ban('198.51.100.2'), ban('198.51.100.3')];
    told();
    recorded();
    expect(await decisions.replaceSource('crowdsec', all, actor)).toEqual({ added: 3, removed: 0 });
    const version = await store.version();
    expect(told()).toEqual([`${version} 198.51.100.1 198.51.100.2 198.51.100.3`]);
    expect(recorded()).toMatchObject([
      {
        action: 'decision.import',
        resource: 'security/decisions',
        after: { source: 'crowdsec', added: 3, removed: 0 },
      },
    ]);
    const before = await store.allLive(now());
    // The same again is no change: nothing is told, nothing written down.
    expect(await decisions.replaceSource('crowdsec', all, actor)).toEqual({ added: 0, removed: 0 });
    expect([told(), recorded(), await store.version()]).toEqual([[], [], version]);

    const next = [ban('198.51.100.1'), ban('198.51.100.2', 'y'), ban('198.51.100.4'), ban('198.51.100.4', 'last')];
    expect(await decisions.replaceSource('crowdsec', next, actor)).toEqual({ added: 2, removed: 2 });
    expect(told()).toEqual([`${version + 1} 198.51.100.2 198.51.100.3 198.51.100.4`]);
    expect(await banned()).toEqual(['198.51.100.1', '198.51.100.2', '198.51.100.4']);
    expect(await decisions.ofSource('crowdsec')).toContainEqual(ban('198.51.100.4', 'last'));
    // What is by hand, and what stayed as it was, are the very same rows.
    const uuidsOf = (rows: typeof before) => rows.filter(({ ip }) => ip === '198.51.100.1').map(({ uuid }) => uuid);
    expect(uuidsOf(await store.allLive(now())).sort()).toEqual(uuidsOf(before).sort());
    // Another end is another ban.
    const later = next.map((one) => ({ ...one, expires_at: null }));
    expect(await decisions.replaceSource('crowdsec', later, actor)).toEqual({ added: 3, removed: 3 });
    expect(await decisions.replaceSource('crowdsec', [], actor)).toEqual({ added: 0, removed: 3 });
    expect(await banned('manual')).toEqual(['198.51.100.1']);
  }));

test('a difference is applied: what is added takes the place of its own network', () =>
  given(async ({ decisions, told, recorded, banned }) => {
    await decisions.replaceSource('crowdsec', [ban('198.51.100.1'), ban('198.51.100.2')], actor);
    told();
    recorded();
    const add = [ban('198.51.100.2', 'anew'), ban('198.51.100.3', 'first'), ban('198.51.100.3', 'second')];
    await decisions.updateSource('crowdsec', { add, remove: ['198.51.100.1'] }, actor);
    expect(await banned()).toEqual(['198.51.100.2', '198.51.100.3']);
    expect(await decisions.ofSource('crowdsec')).toEqual([ban('198.51.100.2', 'anew'), ban('198.51.100.3', 'second')]);
    expect(told()).toEqual([expect.stringMatching(/^\d+ 198\.51\.100\.1 198\.51\.100\.2 198\.51\.100\.3$/)]);
    expect(recorded()).toMatchObject([{ after: { source: 'crowdsec', added: 2, removed: 1 } }]);
    await decisions.updateSource('crowdsec', { add: [], remove: [] }, actor);
    expect([told(), recorded()]).toEqual([[], []]);
  }));

test('decisions of one source are ended, those of others about the same networks are not', () =>
  given(async ({ decisions, told, recorded, banned }) => {
    await decisions.create({ ip: '198.51.100.1', action: 'block' }, actor);
    await decisions.replaceSource('crowdsec', [ban('198.51.100.1'), ban('198.51.100.2')], actor);
    told();
    recorded();
    await decisions.removeOfSource('crowdsec', ['198.51.100.1'], actor);
    expect([await banned(), await banned('manual')]).toEqual([['198.51.100.2'], ['198.51.100.1']]);
    expect(told()).toEqual([expect.stringMatching(/^\d+ 198\.51\.100\.1$/)]);
    expect(recorded()).toMatchObject([{ after: { removed: 1, networks: ['198.51.100.1'] } }]);
  }));

test('what has ended is nobody’s any more, to the millisecond, though it is not swept yet', () =>
  given(async ({ decisions, store, pass, now, banned }) => {
    const endless = await decisions.create({ ip: '198.51.100.1', action: 'block' }, actor);
    const ending = await decisions.create({ ip: '198.51.100.2', action: 'block', duration: '1h' }, actor);
    expect([endless.expires_at, ending.expires_at]).toEqual([null, END]);
    pass(HOUR_MS - 1);
    expect([await banned('manual'), await decisions.count()]).toEqual([['198.51.100.1', '198.51.100.2'], 2]);
    expect(await store.deleteExpired(now())).toBe(0);
    pass(1);
    expect([await banned('manual'), await decisions.count()]).toEqual([['198.51.100.1'], 1]);
    await expect(decisions.get(ending.id)).rejects.toMatchObject({ status: 404 });
    const networks = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
    expect((await store.liveFor(networks, now())).map(({ ip }) => ip)).toEqual(['198.51.100.1']);
    expect(await store.deleteExpired(now())).toBe(1);
    expect(await store.deleteExpired(now())).toBe(0);
  }));

test('nobody bans themselves or an administrator, by network or in any spelling', () =>
  given(async ({ decisions, told, recorded, banned, whitelist }) => {
    whitelist.push('203.0.113.0/28');
    const caller = { ...actor, ip: '::ffff:198.51.100.9' };
    for (const ip of ['198.51.100.9', '198.51.100.0/24', '0.0.0.0/0', '::ffff:198.51.100.9'])
      await expect(decisions.create({ ip, action: 'block' }, caller), ip).rejects.toMatchObject({
        status: 409,
        message: 'decision would ban the address this request comes from',
      });
    for (const ip of ['203.0.113.5', '203.0.113.0/24', '0.0.0.0/0'])
      await expect(decisions.create({ ip, action: 'block' }, actor), ip).rejects.toMatchObject({
        status: 409,
        message: 'decision would ban 203.0.113.0/28, which is in admin_whitelist',
      });
    await expect(decisions.create({ ip: 'x', action: 'block' }, actor)).rejects.toMatchObject({ status: 400 });
    expect([told(), recorded(), await banned('manual')]).toEqual([[], [], []]);
    await decisions.create({ ip: '203.0.113.16', action: 'block' }, caller);
    expect(await banned('manual')).toEqual(['203.0.113.16']);
    const link = { ...actor, ip: 'fe80::1%eth0' };
    await expect(decisions.create({ ip: 'fe80::/10', action: 'block' }, link)).rejects.toMatchObject({ status: 409 });
  }));

test('a ban by hand comes back, one of a program goes with its list; both are told', () =>
  given(async ({ decisions, told, recorded }) => {
    const made = await decisions.create({ ip: '198.51.100.1', action: 'block' }, actor);
    await decisions.replaceSource('crowdsec', [ban('198.51.100.2')], actor);
    const { rows } = await decisions.list({ source: 'crowdsec' });
    expect(rows).toMatchObject([
      { warnings: [{ message: expect.stringContaining('decisions of CrowdSec are switched off') }] },
    ]);
    told();
    recorded();
    await decisions.remove(made.id, actor);
    await decisions.remove(rows[0]?.uuid ?? '', actor);
    expect(told()).toMatchObject([/198\.51\.100\.1$/, /198\.51\.100\.2$/].map((one) => expect.stringMatching(one)));
    expect(recorded()).toMatchObject([
      {
        action: 'decision.delete',
        history: [{ resource: `security/decisions/${made.uuid}`, before: { ip: '198.51.100.1' } }],
      },
      { action: 'decision.delete', history: [] },
    ]);
    await expect(decisions.remove(made.id, actor)).rejects.toMatchObject({ status: 404 });
  }));

test('more of them than fit into one statement are written and removed', () =>
  given(async ({ decisions, store, now }) => {
    const many = Array.from({ length: 31_000 }, (_, index) =>
      ban(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`),
    );
    expect(await decisions.replaceSource('crowdsec', many, actor)).toEqual({ added: 31_000, removed: 0 });
    expect(await decisions.count()).toBe(31_000);
    const networks = many.map(({ ip }) => ip);
    expect(await store.liveFor(networks, now())).toHaveLength(31_000);
    await decisions.removeOfSource('crowdsec', networks, actor);
    expect(await decisions.count()).toBe(0);
  }));
