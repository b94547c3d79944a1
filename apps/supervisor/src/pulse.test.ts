import { describe, expect, test } from 'vitest';
import type { Activity } from './process/activity.ts';
import { type Patience, type Silence, watchPulse } from './pulse.ts';

/** One question for a sign of life: how long the answer took, whether there was one, and what the kernel says. */
type Round = { ms: number; alive?: boolean } & Partial<Activity>;

const patience: Patience = { idleMs: 4_000, busyMs: 8_000, start: { idleMs: 1_000, busyMs: 5_500 } };

/** Watches a child through these rounds, on a clock that only they move; then it ends. */
const watch = async (rounds: readonly Round[]) => {
  const over = new AbortController();
  let at = -1;
  let now = 0;
  let firsts = 0;
  const looks: number[] = [];
  const silence: Silence | undefined = await watchPulse({
    async isAlive() {
      at += 1;
      const round = rounds[at];
      if (!round) {
        over.abort();
        return true;
      }
      now += round.ms;
      return round.alive ?? false;
    },
    activity() {
      looks.push(now);
      const { isStopped = false, isRunnable = false, usedMs = 0 } = rounds[at] ?? {};
      return { isStopped, isRunnable, usedMs };
    },
    patience,
    onFirst() {
      firsts += 1;
    },
    signal: over.signal,
    now: () => now,
  });
  return { silence, firsts, looks, rounds: at };
};

const times = (count: number, round: Round): Round[] => Array.from({ length: count }, () => round);

describe.concurrent('the pulse of a child', () => {
  test('that idles at its start ends with that patience, not a moment earlier', async () => {
    expect((await watch(times(9, { ms: 500 }))).silence).toEqual({ state: 'idle', silentMs: 1_000 });
    expect((await watch([{ ms: 500 }, { ms: 499 }])).silence).toBeUndefined();
  });

  test('that is busy at its start is waited for longer: it wants the processor, or uses it', async () => {
    expect((await watch(times(99, { ms: 500, isRunnable: true }))).silence).toEqual({ state: 'busy', silentMs: 5_500 });
    expect((await watch(times(10, { ms: 500, isRunnable: true }))).silence).toBeUndefined();
    // A twentieth of the time are timers that tick.
    const using = (share: number) => Array.from({ length: 99 }, (_, n) => ({ ms: 500, usedMs: (n + 1) * 500 * share }));
    expect((await watch(using(0.06))).silence).toEqual({ state: 'busy', silentMs: 5_500 });
    expect((await watch(using(0.05))).silence).toEqual({ state: 'idle', silentMs: 1_000 });
  });

  test('that was busy in between idles from then on', async () => {
    const rounds = [{ ms: 900 }, { ms: 500, isRunnable: true }, { ms: 900 }];
    expect((await watch(rounds)).silence).toBeUndefined();
    expect((await watch([...rounds, { ms: 500 }])).silence).toEqual({ state: 'idle', silentMs: 2_800 });
  });

  test('that is stopped has little time, however busy it was', async () => {
    const stopped = { ms: 600, isStopped: true, isRunnable: true };
    expect((await watch(times(99, stopped))).silence).toEqual({ state: 'stopped', silentMs: 3_000 });
    // Somebody took a look at it, twice.
    const looked = [...times(4, stopped), { ms: 600, isRunnable: true }, ...times(4, stopped)];
    expect((await watch(looked)).silence).toBeUndefined();
    const heard = { ms: 10, alive: true };
    expect((await watch([...times(4, stopped), heard, ...times(2, stopped)])).silence).toBeUndefined();
  });

  test('is looked for often, what the kernel says seldom', async () => {
    expect((await watch(times(10, { ms: 100, isRunnable: true }))).looks).toEqual([500, 1_000]);
  });

  test('counts no time in which nobody could have heard it', async () => {
    const slept = [{ ms: 900 }, { ms: 6_001 }, { ms: 900 }];
    expect((await watch(slept)).silence).toBeUndefined();
    expect((await watch([{ ms: 6_000 }])).silence).toEqual({ state: 'idle', silentMs: 6_000 });
  });

  test('that was heard once has the patience of one that serves, from the last time on', async () => {
    const heard = { ms: 10, alive: true };
    const served = await watch([{ ms: 900 }, heard, { ms: 2_000 }, { ms: 1_999 }, { ms: 1 }, { ms: 600 }]);
    expect(served).toMatchObject({ firsts: 1, silence: { state: 'idle', silentMs: 4_600 } });
  });

  test('counts anew after every answer', async () => {
    const heard = { ms: 10, alive: true };
    const often = await watch([heard, { ms: 3_900 }, { ms: 90 }, heard, { ms: 490 }, { ms: 3_500 }]);
    expect(often).toMatchObject({ firsts: 1, silence: undefined, looks: [3_910, 8_000] });
  });

  test('is not looked for when it is over', async () => {
    expect(await watch([])).toEqual({ silence: undefined, firsts: 0, looks: [], rounds: 0 });
    const over = AbortSignal.abort();
    const never = () => expect.unreachable();
    const activity = () => ({ isStopped: true, isRunnable: false, usedMs: 0 });
    expect(await watchPulse({ isAlive: never, activity, patience, onFirst: never, signal: over })).toBeUndefined();
  });

  test('is counted by the clock', async () => {
    const activity = () => ({ isStopped: false, isRunnable: false, usedMs: 0 });
    const impatient = { ...patience, start: { idleMs: 550, busyMs: 9_000 } };
    const startedAt = performance.now();
    const silence = await watchPulse({
      isAlive: async () => false,
      activity,
      patience: impatient,
      onFirst: () => {},
      signal: new AbortController().signal,
    });
    expect(silence?.state).toBe('idle');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(500);
  });
});
