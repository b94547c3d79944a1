import { systemActor } from '@sallyport/store/actor';
import { expect, test } from 'vitest';
import { withStore } from '../../../../testing/with-store.ts';
import { type Asked, revocationStore } from './store.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 22, 12, minute)).toISOString();
const lease = (minute: number) => ({ now: at(minute), until: at(minute + 1), latest: at(minute + 2) });
const asked = (fingerprint: string, more: Partial<Asked> = {}): Asked => ({
  ...{ fingerprint, chain_pem: 'pem', account_id: 1, reason: 'superseded', asked_by: systemActor('test') },
  ...{ asked_at: at(0), failures: 0, next_attempt_at: at(0), leased_until: '' },
  certificate: { id: 1, uuid: 'u', name: 'n', provider: 'acme', domains: 'a.test', expires_at: at(59) },
  ...more,
});

test('one asks at a time, until its lease is over or is none', () =>
  withStore(async ({ kysely }) => {
    const store = revocationStore(kysely);
    expect(await store.begin(asked('a'), lease(0))).toBe(true);
    expect(await store.begin(asked('a', { reason: 'key_compromise' }), lease(0))).toBe(false);
    expect(await store.due(lease(0))).toEqual([]);
    expect(await store.claim('a', lease(0))).toBe(false);
    expect(await store.due(lease(1))).toEqual([asked('a', { leased_until: at(1) })]);
    // Who asks anew when it is over says why.
    expect(await store.begin(asked('a', { reason: 'key_compromise' }), lease(1))).toBe(true);
    expect((await store.due(lease(2))).map(({ reason }) => reason)).toEqual(['key_compromise']);
    expect([await store.claim('a', lease(2)), await store.claim('a', lease(2))]).toEqual([true, false]);
    // A lease beyond what any clock gives is none.
    const early = { now: at(0), until: at(1), latest: at(2) };
    expect(await store.due(early)).toHaveLength(1);
    expect(await store.claim('a', { ...early, latest: at(3) })).toBe(false);
    expect(await store.claim('a', early)).toBe(true);
    expect(await store.claim('b', early)).toBe(false);
  }));

test('what is given back waits for its time; what has ended is ended once', () =>
  withStore(async ({ kysely }) => {
    const store = revocationStore(kysely);
    await store.begin(asked('late', { next_attempt_at: at(3) }), lease(0));
    await store.begin(asked('a'), lease(0));
    await store.begin(asked('b', { next_attempt_at: at(1) }), lease(0));
    const due = async (minute: number) => (await store.due(lease(minute))).map(({ fingerprint }) => fingerprint);
    expect(await due(2)).toEqual(['a', 'b']);
    await store.release('a', { failures: 1, next_attempt_at: at(5) });
    expect(await due(4)).toEqual(['b', 'late']);
    expect(await due(5)).toEqual(['b', 'late', 'a']);
    expect((await store.due(lease(5))).at(-1)).toMatchObject({ failures: 1, leased_until: '' });
    expect([await store.end('b'), await store.end('b')]).toEqual([true, false]);
    await store.claim('a', lease(5));
    await store.releaseAll();
    expect(await due(5)).toEqual(['late', 'a']);
  }));
