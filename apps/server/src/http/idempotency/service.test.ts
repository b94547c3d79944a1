import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { withStore } from '../../testing/with-store.ts';
import type { Answer } from './answer.ts';
import { createIdempotency } from './service.ts';
import { idempotencyStore } from './store.ts';

const HOUR_MS = 3_600_000;
const ANSWER: Answer = { status: 201, headers: { location: '/x' }, body: '{"token":"secret"}' };

interface Given {
  /** Another process on the same store. */
  process: () => ReturnType<typeof createIdempotency>;
  pass: (ms: number) => void;
  /** What is kept of a key. */
  row: (id: string) => Promise<{ answer_sealed: string; answered: number; resource: string | null } | undefined>;
  noteMade: (id: string, ...resources: string[]) => Promise<void>;
}

const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    let now = Date.parse('2026-05-02T12:00:00.000Z');
    const make = () =>
      createIdempotency({
        db,
        store: idempotencyStore,
        vault: createVault('k'.repeat(32)),
        clock: () => new Date(now),
      });
    const first = make();
    await work({
      process: make,
      pass: (ms) => {
        now += ms;
      },
      row: (id) => idempotencyStore(db).find(id),
      noteMade: (id, ...resources) =>
        transact(async (tx) => {
          const actor = { idempotencyId: id } as never;
          await first.recorded(tx, resources.map((resource) => ({ action: 'x', actor, resource })) as never);
        }),
    });
  });

const finishOf = (begun: Awaited<ReturnType<ReturnType<typeof createIdempotency>['begin']>>) => {
  if ('again' in begun) throw new Error('it was answered already');
  return begun.finish;
};

test('the answer is kept sealed, and given again by every process for a day', () =>
  given(async ({ process, pass, row }) => {
    const [one, other] = [process(), process()];
    await finishOf(await one.begin('a', 'f'))(ANSWER);
    expect((await row('a'))?.answer_sealed).not.toContain('secret');
    for (const each of [one, other]) expect(await each.begin('a', 'f')).toEqual({ again: ANSWER });
    // It stands for that request alone.
    for (const each of [one, other]) await expect(each.begin('a', 'g')).rejects.toMatchObject({ status: 422 });
    pass(24 * HOUR_MS);
    expect(await other.begin('a', 'f')).toEqual({ again: ANSWER });
    pass(1);
    expect(await other.begin('a', 'g')).toHaveProperty('finish');
  }));

test('the same that comes meanwhile waits for the answer; another one is refused', () =>
  given(async ({ process }) => {
    const { begin } = process();
    const finish = finishOf(await begin('b', 'f'));
    const waiting = [begin('b', 'f'), begin('b', 'f')];
    await expect(begin('b', 'g')).rejects.toMatchObject({ status: 422 });
    await finish(ANSWER);
    expect(await Promise.all(waiting)).toEqual([{ again: ANSWER }, { again: ANSWER }]);
  }));

test('what made nothing may be tried again, by one of those who waited', () =>
  given(async ({ process, row }) => {
    const { begin } = process();
    const finish = finishOf(await begin('c', 'f'));
    const waiting = begin('c', 'f');
    await finish(undefined);
    const again = finishOf(await waiting);
    await again(ANSWER);
    expect(await begin('c', 'f')).toEqual({ again: ANSWER });
    expect(await row('c')).toMatchObject({ answered: 1 });
  }));

test('what another process is answering is not made twice, until that one is gone', () =>
  given(async ({ process, pass }) => {
    const [gone, next, third] = [process(), process(), process()];
    await gone.begin('d', 'f');
    pass(150_000);
    await expect(next.begin('d', 'f')).rejects.toMatchObject({ status: 409, headers: { 'retry-after': '5' } });
    // A request that is refused so leaves nothing behind that would keep others waiting.
    await expect(next.begin('d', 'f')).rejects.toMatchObject({ status: 409 });
    pass(1);
    expect(await next.begin('d', 'f')).toHaveProperty('finish');
    // It is that one's now, and from now on.
    await expect(third.begin('d', 'f')).rejects.toMatchObject({ status: 409 });
  }));

test('what was made is never made again, though its answer got lost: the first thing it made is named', () =>
  given(async ({ process, pass, noteMade }) => {
    const [gone, next] = [process(), process()];
    const finish = finishOf(await gone.begin('e', 'f'));
    await noteMade('e', 'proxy-hosts/u', 'certificates/1');
    await noteMade('e', 'proxy-hosts/v');
    const lost = { status: 409, headers: { location: '/api/v1/proxy-hosts/u' } };
    await expect(next.begin('e', 'f')).rejects.toMatchObject(lost);
    pass(HOUR_MS);
    await next.forgetUnanswered();
    await expect(next.begin('e', 'f')).rejects.toMatchObject(lost);
    // Nor when it ends without an answer that can be kept.
    await finish(undefined);
    await expect(gone.begin('e', 'f')).rejects.toMatchObject(lost);
  }));

test('after a start nobody waits for what nobody answers any more', () =>
  given(async ({ process, row }) => {
    const [gone, next] = [process(), process()];
    await gone.begin('f', 'f');
    await finishOf(await gone.begin('g', 'f'))(ANSWER);
    await next.forgetUnanswered();
    expect(await row('f')).toBeUndefined();
    expect(await next.begin('g', 'f')).toEqual({ again: ANSWER });
    expect(await next.begin('f', 'other')).toHaveProperty('finish');
  }));
