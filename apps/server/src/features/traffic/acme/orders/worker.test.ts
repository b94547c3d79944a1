import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withStore } from '../../../../testing/with-store.ts';
import { type Claim, ClaimLost } from './attempt.ts';
import { newOrderRow } from './service.ts';
import { type NewOrderRow, orderStore } from './store.ts';
import { createWorker, type WorkerDeps } from './worker.ts';

const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const at = (minute: number) => new Date(NOW + minute * 60_000).toISOString();

const given = (work: (it: Awaited<ReturnType<typeof makeGiven>>) => Promise<void>) =>
  withStore(async ({ kysely: db }) => work(await makeGiven(db)));

const makeGiven = async (db: Parameters<typeof orderStore>[0]) => {
  const store = orderStore(db);
  const lines: string[] = [];
  const state = { now: NOW };
  /** Ends an attempt as a real one does: the next one is a day later. */
  const finish = async ({ id, token }: Claim): Promise<void> => {
    const row = await store.find(id);
    await store.release(row ?? { certificate_id: id, next_attempt_at: null }, token, {
      ...{ next_attempt_at: at(24 * 60), last_attempt_at: at(0) },
    });
  };
  /** Orders that were worked at. */
  const attempted: number[] = [];
  const start = async (more: Partial<WorkerDeps>) => {
    const worker = createWorker({
      ...{ store, node: 'node', isAlone: false, clock: () => new Date(state.now) },
      ...{ attempt: async () => {}, checkRenewal: async () => {}, isWanted: async () => true },
      log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
      ...more,
    });
    return { ...worker, ...(await worker.start()) };
  };
  return {
    ...{ store, lines, state, start },
    /** An order that is due at that minute. */
    async order(minute: number, more: Partial<NewOrderRow> = {}): Promise<number> {
      const name = randomUUID();
      const certificate = { uuid: name, name, provider: 'acme', domains: '[]', chain_pem: '', key_sealed: '' };
      const { id } = await db
        .insertInto('certificates')
        .values({ ...certificate, not_before: at(-9), expires_at: at(9), created_at: at(-9) })
        .returning('id')
        .executeTakeFirstOrThrow();
      const how = { issuer: 'internal', key_type: 'p256' } as const;
      await store.insert([{ ...newOrderRow(id, [name], how, { isAuto: false, now: at(minute) }), ...more }]);
      return id;
    },
    row: async (id: number) => {
      const row = await store.find(id);
      if (!row) throw new Error('it is gone');
      return row;
    },
    finish,
    attempted,
    /** Works at an order, and is done with it. */
    async attempt(claim: Claim): Promise<void> {
      attempted.push(claim.id);
      await finish(claim);
    },
  };
};

test('what is due is worked at, four at once, each claimed for a minute by a token of its own, and once', () =>
  given(async ({ order, row, start, finish }) => {
    for (let count = 0; count < 6; count++) await order(-1);
    const later = await order(1);
    const doors = new Map<number, { claim: Claim; open: () => void }>();
    const { stop } = await start({
      attempt: async (claim) => {
        const door = Promise.withResolvers<void>();
        doors.set(claim.id, { claim, open: door.resolve });
        await door.promise;
        await finish(claim);
      },
    });
    await expect.poll(() => doors.size).toBe(4);
    const [first] = doors.values();
    expect(await row(first?.claim.id ?? 0)).toMatchObject({ leased_by: first?.claim.token, leased_until: at(1) });
    expect(first?.claim.signal.aborted).toBe(false);
    first?.open();
    await expect.poll(() => doors.size).toBe(5);
    const stopping = () => {
      for (const { open } of doors.values()) open();
      return doors.size;
    };
    await expect.poll(stopping).toBe(6);
    stopping();
    await stop();
    expect(new Set([...doors.values()].map(({ claim }) => claim.token)).size).toBe(6);
    expect(doors.has(later)).toBe(false);
    expect((await row(later)).leased_by).toBe('');
  }));

test('what nobody wants any more is not worked at, and not looked at again', () =>
  given(async ({ order, row, start, attempted }) => {
    const id = await order(-1, { ari_checked_until: at(5) });
    const { stop } = await start({
      attempt: async (claim) => void attempted.push(claim.id),
      isWanted: async (one) => one.certificate_id !== id,
    });
    await expect.poll(async () => (await row(id)).next_attempt_at).toBeNull();
    expect(await row(id)).toMatchObject({ ari_checked_until: null, leased_by: '', leased_until: '' });
    await stop();
    expect(attempted).toEqual([]);
  }));

test('what was tried by a clock that ran ahead is tried now', () =>
  given(async ({ order, start, attempted, attempt }) => {
    const day = 24 * 60;
    const id = await order(30 * day, { last_attempt_at: at(day + 1) });
    await order(30 * day, { last_attempt_at: at(day) });
    const { stop } = await start({ attempt });
    await expect.poll(() => attempted).toEqual([id]);
    await stop();
    expect(attempted).toEqual([id]);
  }));

test('what another node has done since it was seen to be due is given back as it is', () =>
  given(async ({ order, row, start, store, attempted }) => {
    const id = await order(-1);
    const claimed: number[] = [];
    const { stop } = await start({
      store: {
        ...store,
        // Between the look and the claim.
        async claim(one, ...more) {
          await store.change(one, { next_attempt_at: at(60), last_attempt_at: at(0) });
          claimed.push(one);
          return store.claim(one, ...more);
        },
      },
      attempt: async (claim) => void attempted.push(claim.id),
    });
    await expect.poll(async () => claimed.length > 0 && (await row(id)).leased_by === '').toBe(true);
    await stop();
    expect(attempted).toEqual([]);
    expect(await row(id)).toMatchObject({ next_attempt_at: at(60), leased_by: '', leased_until: '' });
  }));

test('what is worked at here is not begun a second time, though its claim was taken away', () =>
  given(async ({ order, start, finish, store, attempted }) => {
    const id = await order(-2);
    const door = Promise.withResolvers<void>();
    const { stop, nudge } = await start({
      async attempt(claim) {
        attempted.push(claim.id);
        if (claim.id === id) await door.promise;
        await finish(claim);
      },
    });
    await expect.poll(() => attempted).toEqual([id]);
    await store.releaseAll();
    const next = await order(-1);
    nudge();
    await expect.poll(() => attempted).toContain(next);
    expect(attempted).toEqual([id, next]);
    door.resolve();
    await stop();
  }));

test('what a clock that ran ahead has leased for years is free', () =>
  given(async ({ order, start, attempted, attempt }) => {
    const id = await order(-1, { leased_by: 'ahead', leased_until: at(1_000_000) });
    await order(-1, { leased_by: 'other', leased_until: at(2) });
    const { stop } = await start({ attempt });
    await expect.poll(() => attempted).toEqual([id]);
    await stop();
    expect(attempted).toEqual([id]);
  }));

test('a process that is alone frees what the one before it held; others wait until that has run out', () =>
  given(async ({ order, start, state, attempted, attempt }) => {
    const id = await order(-1, { leased_by: 'gone', leased_until: at(1) });
    const other = await start({ attempt });
    await other.stop();
    expect(attempted).toEqual([]);
    const alone = await start({ attempt, isAlone: true });
    await expect.poll(() => attempted).toEqual([id]);
    await alone.stop();

    const leased = await order(-1, { leased_by: 'gone', leased_until: at(1) });
    state.now = NOW + 60_000;
    const late = await start({ attempt });
    await expect.poll(() => attempted).toEqual([id, leased]);
    await late.stop();
  }));

test('a claim is kept for as long as it is worked at, also when the store fails once, and what another one has taken is left to them', () =>
  given(async ({ order, row, start, state, store, lines, attempted, attempt }) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const beat = async () => {
      state.now += 15_000;
      await vi.advanceTimersByTimeAsync(15_000);
    };
    const id = await order(-1);
    let saves = 0;
    let ended: unknown;
    const begun = Promise.withResolvers<void>();
    const { stop } = await start({
      store: {
        ...store,
        async save(...given) {
          saves += 1;
          if (saves === 2) throw new Error('the store is away');
          return store.save(...given);
        },
      },
      async attempt({ signal }) {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ended = signal.reason;
      },
    });
    await begun.promise;
    const leasedUntil = async () => (await row(id)).leased_until;
    await beat();
    await expect.poll(leasedUntil).toBe(at(1.25));
    await beat();
    await expect.poll(() => lines.join('')).toContain('the store is away');
    expect(await leasedUntil()).toBe(at(1.25));
    await beat();
    await expect.poll(leasedUntil).toBe(at(1.75));

    // The minute that it was claimed for is over.
    state.now = NOW + 61_000;
    const other = await start({ attempt });
    await other.stop();
    expect(attempted).toEqual([]);
    expect(ended).toBeUndefined();

    // As after a long pause of this process, in which its claim ran out.
    await store.releaseAll();
    const times = { now: at(2), latest: at(4), until: at(3) };
    expect(await store.claim(id, 'another/1', times)).toBe(true);
    await beat();
    await expect.poll(() => ended).toBeInstanceOf(ClaimLost);
    const taken = await row(id);
    expect(taken).toMatchObject({ leased_by: 'another/1', leased_until: at(3) });
    const before = saves;
    await beat();
    await stop();
    expect(saves).toBe(before);
  }));

test('an end of the process ends what is under way, and is waited for', () =>
  given(async ({ order, start }) => {
    await order(-1);
    let ended = '';
    const begun = Promise.withResolvers<void>();
    const { stop, nudge } = await start({
      async attempt({ signal }) {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ended = signal.reason instanceof ClaimLost ? 'lost' : 'stopped';
      },
    });
    await begun.promise;
    await stop();
    expect(ended).toBe('stopped');
    // Nothing is begun afterwards.
    ended = '';
    nudge();
    await stop();
    expect(ended).toBe('');
  }));

test('a fault of an attempt is told, and others are worked at', () =>
  given(async ({ order, start, finish, lines, attempted }) => {
    const broken = await order(-2);
    // To the moment.
    const sound = await order(0);
    const { stop } = await start({
      async attempt(claim) {
        attempted.push(claim.id);
        if (claim.id === broken) throw new Error('a fault of ours');
        await finish(claim);
      },
    });
    await expect.poll(() => attempted).toEqual([broken, sound]);
    await stop();
    expect(lines.join('')).toContain('a fault of ours');
    expect(lines.join('')).toContain(`"certificate":${broken}`);
  }));

test('four authorities are asked at once when to renew, and what fails is told', () =>
  given(async ({ order, start, lines, store }) => {
    const ids: number[] = [];
    for (let count = 0; count < 6; count++) ids.push(await order(60, { ari_checked_until: at(-1) }));
    const asked = new Map<number, () => void>();
    const { stop, nudge } = await start({
      async checkRenewal(id, signal) {
        const door = Promise.withResolvers<void>();
        asked.set(id, door.resolve);
        signal.addEventListener('abort', () => door.resolve());
        await door.promise;
        await store.change(id, { ari_checked_until: at(60) });
        if (id === ids[0]) throw new Error('it does not say');
      },
    });
    await expect.poll(() => asked.size).toBe(4);
    nudge();
    asked.get(ids[1] ?? 0)?.();
    await expect.poll(() => asked.size).toBe(5);
    expect([...asked.keys()]).toEqual(ids.slice(0, 5));
    asked.get(ids[0] ?? 0)?.();
    await expect.poll(() => lines.join('')).toContain('it does not say');
    // What ends by an end of the process is waited for.
    await stop();
    expect((await store.find(ids[2] ?? 0))?.ari_checked_until).toBe(at(60));
  }));
