import { X509Certificate } from 'node:crypto';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createInternalCa } from './service.ts';
import { internalCaStore } from './store.ts';

const ACTOR = systemActor('test');
const YEAR_MS = 365.25 * 86_400_000;
const LEAF = { names: ['nas.lan'], keyType: 'p256' } as const;

/** The authority as several processes have it, over one store; what they did besides is noted. */
const given = (
  work: (it: {
    /** As another process has it; `secret` is its encryption key. */
    authority: (secret?: string) => ReturnType<typeof createInternalCa>;
    noted: { recorded: ChangeEntry[]; backups: string[]; renewals: number; nudges: number; isTrailAway: boolean };
    at: (years: number) => void;
    store: ReturnType<typeof internalCaStore>;
    /** Called while the backup is made. */
    meanwhile: (change: () => Promise<unknown>) => void;
  }) => Promise<void>,
) =>
  withStore(async ({ kysely: db, transactAside }) => {
    const start = Date.parse('2026-11-22T12:00:00.000Z');
    let now = start;
    let change: () => Promise<unknown> = async () => undefined;
    const noted = {
      recorded: [] as ChangeEntry[],
      backups: [] as string[],
      renewals: 0,
      nudges: 0,
      isTrailAway: false,
    };
    const authority = (secret = 'k'.repeat(32)) =>
      createInternalCa({
        ...{ db, transactAside, store: internalCaStore, vault: createVault(secret), place: async () => 'nas.lan' },
        async record(_tx, entry) {
          if (noted.isTrailAway) throw new Error('the trail is away');
          noted.recorded.push(entry);
        },
        async renewAll() {
          noted.renewals += 1;
        },
        nudge() {
          noted.nudges += 1;
        },
        async backUp(reason) {
          noted.backups.push(reason);
          await change();
        },
        clock: () => new Date(now),
      });
    await work({
      ...{ authority, noted, store: internalCaStore(db) },
      at: (years) => {
        now = start + years * YEAR_MS;
      },
      meanwhile: (next) => {
        change = next;
      },
    });
  });

const isSignedBy = (chainPem: string, rootPem: string) =>
  new X509Certificate(chainPem).verify(new X509Certificate(rootPem).publicKey);

test('the root is made with the first certificate, once, and its key is stored sealed', () =>
  given(async ({ authority, noted, store }) => {
    const ca = authority();
    const none = { status: 404, message: expect.stringMatching(/^There is no internal authority yet/) };
    for (const asked of [ca.describe(), ca.rootPem(), ca.prepare(ACTOR)])
      await expect(asked).rejects.toMatchObject(none);
    expect(await ca.fault()).toBeUndefined();
    const leafs = await Promise.all([ca, authority(), authority()].map((one) => one.issue(LEAF, ACTOR)));
    const rootPem = await ca.rootPem();
    for (const { chainPem } of leafs) expect(isSignedBy(chainPem, rootPem)).toBe(true);
    const told = await ca.describe();
    expect(told).toMatchObject({
      ...{
        subject: expect.stringContaining('Sallyport CA of nas.lan'),
        sha256: new X509Certificate(rootPem).fingerprint256,
      },
      ...{ not_after: '2036-11-22T12:00:00.000Z', created_at: '2026-11-22T12:00:00.000Z', issue: null, next: null },
    });
    const { subject, sha256, not_after } = told;
    expect(noted.recorded).toEqual([
      {
        ...{ action: 'internal_ca.create', actor: ACTOR, resource: 'certificates/internal-ca' },
        after: { subject, sha256, not_after },
      },
    ]);
    const row = await store.find();
    expect(row?.key_sealed).toMatch(/^v1\./);
    expect(await store.find('next')).toBeUndefined();
  }));

test('the next root signs nothing before it takes over, of which a backup is made; then it is the only one', () =>
  given(async ({ authority, noted, store }) => {
    const ca = authority();
    await ca.issue(LEAF, ACTOR);
    const first = await ca.rootPem();
    const { sha256: firstSha } = await ca.describe();
    const none = { status: 404, message: 'There is no next root: make it first' };
    for (const asked of [ca.nextRootPem(), ca.drop(firstSha, ACTOR), ca.takeOver(firstSha, ACTOR)]) {
      await expect(asked).rejects.toMatchObject(none);
    }
    expect(noted.backups).toEqual([]);
    noted.recorded.length = 0;
    const prepared = await ca.prepare(ACTOR);
    const nextPem = await ca.nextRootPem();
    const sha256 = new X509Certificate(nextPem).fingerprint256;
    expect(prepared).toMatchObject({ sha256: firstSha, next: { sha256, created_at: '2026-11-22T12:00:00.000Z' } });
    await expect(ca.prepare(ACTOR)).rejects.toMatchObject({ status: 409 });
    expect(isSignedBy((await ca.issue(LEAF, ACTOR)).chainPem, first)).toBe(true);
    for (const asked of [ca.drop(firstSha, ACTOR), ca.takeOver(firstSha, ACTOR)]) {
      await expect(asked).rejects.toMatchObject({ status: 409, details: expect.stringContaining(sha256) });
    }
    expect([noted.backups, noted.renewals, noted.nudges]).toEqual([[], 0, 0]);
    const after = await ca.takeOver(sha256.toLowerCase(), ACTOR);
    expect(after).toMatchObject({ sha256, next: null });
    expect([noted.backups, noted.renewals, noted.nudges]).toEqual([['before-root-takeover'], 1, 1]);
    expect(isSignedBy((await ca.issue(LEAF, ACTOR)).chainPem, nextPem)).toBe(true);
    expect(await store.find('next')).toBeUndefined();
    expect(noted.recorded).toMatchObject([
      { action: 'internal_ca.prepare', after: { sha256 }, resource: 'certificates/internal-ca', actor: ACTOR },
      {
        ...{ action: 'internal_ca.take_over', resource: 'certificates/internal-ca', actor: ACTOR },
        ...{ before: { sha256: firstSha }, after: { sha256 } },
      },
    ]);
    expect(noted.recorded[1]?.after).not.toHaveProperty('created_at');
  }));

test('a next root is given up by its fingerprint, also while another one would let it take over', () =>
  given(async ({ authority, noted, store, meanwhile }) => {
    const ca = authority();
    await ca.issue(LEAF, ACTOR);
    const { next } = await ca.prepare(ACTOR);
    await ca.drop(next?.sha256.toLowerCase() ?? '', ACTOR);
    expect(noted.recorded.at(-1)).toMatchObject({
      ...{ action: 'internal_ca.drop', actor: ACTOR, resource: 'certificates/internal-ca' },
      before: { sha256: next?.sha256 },
    });
    expect([(await ca.describe()).next, await store.find('active')]).toMatchObject([null, { id: 1 }]);
    const { next: second } = await ca.prepare(ACTOR);
    meanwhile(async () => {
      await authority().drop(second?.sha256 ?? '', ACTOR);
      await authority().prepare(ACTOR);
    });
    await expect(ca.takeOver(second?.sha256 ?? '', ACTOR)).rejects.toMatchObject({ status: 409 });
    expect([noted.renewals, noted.nudges]).toEqual([0, 0]);
  }));

test('an authority that can sign nothing says why and what to do, and does not take over', () =>
  given(async ({ authority, at, store, noted }) => {
    const ca = authority();
    await ca.issue(LEAF, ACTOR);
    const stranger = authority('x'.repeat(32));
    const lost =
      /^The key of the internal authority can not be opened .*: put that encryption key back, or restore a backup/;
    await expect(stranger.issue(LEAF, ACTOR)).rejects.toThrow(lost);
    expect((await stranger.fault())?.message).toMatch(lost);
    expect((await stranger.describe()).issue).toMatch(lost);
    const { next } = await ca.prepare(ACTOR);
    const takeOver = () => stranger.takeOver(next?.sha256 ?? '', ACTOR);
    await expect(takeOver()).rejects.toMatchObject({
      ...{ status: 409, message: expect.stringMatching(/^The key of the internal authority can not be opened/) },
      details: 'Delete the next root, and make another',
    });
    expect(noted.renewals).toBe(0);
    expect((await ca.describe()).next).toEqual(next);
    // A root, and the key of another one.
    const [active, other] = [await store.find(), await store.find('next')];
    await store.delete('active');
    await store.insert({ root_pem: active?.root_pem ?? '', key_sealed: other?.key_sealed ?? '', created_at: '' });
    const broken = /^The internal authority is stored with a root and a key that do not work \(.*: restore a backup/;
    expect((await ca.fault())?.message).toMatch(broken);
    await expect(ca.issue(LEAF, ACTOR)).rejects.toThrow(broken);
    // One whose time is over still goes, by another that is not.
    await ca.takeOver(next?.sha256 ?? '', ACTOR);
    expect(await ca.fault()).toBeUndefined();
    at(10.01);
    expect((await ca.describe()).issue).toMatch(
      /^The root of the internal authority expired on 2036-11-22T12:00:00.000Z/,
    );
    await expect(ca.issue(LEAF, ACTOR)).rejects.toThrow('expired on');
  }));

test('what the trail does not take is not done', () =>
  given(async ({ authority, noted, store }) => {
    const ca = authority();
    noted.isTrailAway = true;
    await expect(ca.issue(LEAF, ACTOR)).rejects.toThrow('the trail is away');
    expect(await store.find()).toBeUndefined();
    noted.isTrailAway = false;
    await ca.issue(LEAF, ACTOR);
    const { sha256, next } = await ca.prepare(ACTOR);
    noted.isTrailAway = true;
    const meant = next?.sha256 ?? '';
    for (const change of [ca.drop(meant, ACTOR), ca.takeOver(meant, ACTOR)]) {
      await expect(change).rejects.toThrow('the trail is away');
    }
    expect(await ca.describe()).toMatchObject({ sha256, next });
    expect(noted.nudges).toBe(0);
  }));

test('the end of a root is told two years before', () =>
  given(async ({ authority, at }) => {
    const ca = authority();
    await ca.issue(LEAF, ACTOR);
    at(7.99);
    expect((await ca.describe()).issue).toBeNull();
    at(8.01);
    expect((await ca.describe()).issue).toMatch(/^The root expires on 2036-11-22T12:00:00.000Z: make the next root/);
  }));
