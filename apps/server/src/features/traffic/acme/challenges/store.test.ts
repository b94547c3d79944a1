import { expect, test } from 'vitest';
import { withStore } from '../../../../testing/with-store.ts';
import { challengeStore } from './store.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 22, 12, minute)).toISOString();

test('an answer is given until its time is over or it is withdrawn; the newest of a token counts', () =>
  withStore(async ({ kysely }) => {
    const store = challengeStore(kysely);
    const answer = (token: string, keyAuthorization = `${token}.key`) => ({ token, keyAuthorization });
    const put = (until: number, ...answers: ReturnType<typeof answer>[]) =>
      store.put(answers, { created_at: at(0), expires_at: at(until) });
    await put(10, answer('b'), answer('a'));
    await put(20, answer('c'));
    await put(30, answer('a', 'a.other'));
    expect(await store.live(at(0))).toEqual([answer('a', 'a.other'), answer('b'), answer('c')]);
    expect(await store.live(at(10))).toEqual([answer('a', 'a.other'), answer('c')]);
    expect(await store.removeExpired(at(9))).toBe(0);
    expect(await store.removeExpired(at(10))).toBe(1);
    await store.remove(['c', 'nobody-knows']);
    expect(await store.live(at(0))).toEqual([answer('a', 'a.other')]);
    // More than one statement takes.
    const many = Array.from({ length: 5_001 }, (_, number) => answer(`t${number}`));
    await put(20, ...many);
    expect(await store.live(at(0))).toHaveLength(5_002);
    await store.remove(many.map(({ token }) => token));
    expect(await store.live(at(0))).toHaveLength(1);
  }));
