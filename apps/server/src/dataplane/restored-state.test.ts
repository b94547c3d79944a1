import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { createRestoredState } from './restored-state.ts';

/** A proxy that tells what is done to it, in turn; each step succeeds unless `fails` names it. */
const given = (directory: string, parts: { count?: number; fails?: Record<string, number>; isOff?: boolean } = {}) => {
  const steps: string[] = [];
  const fails = new Map(Object.entries(parts.fails ?? {}));
  const store = { count: parts.count ?? 0, isAway: false };
  const step = async (name: string): Promise<boolean> => {
    steps.push(name);
    const left = fails.get(name) ?? 0;
    fails.set(name, left - 1);
    return left <= 0;
  };
  let inTheMiddle: () => void = () => {};
  const path = join(directory, 'restored');
  const restored = createRestoredState({
    path,
    count: async () => {
      if (store.isAway) throw new Error('the store is away');
      return store.count;
    },
    protection: {
      hold: async () => {
        if (!(await step('hold'))) throw new Error('HAProxy does not answer');
      },
      startOver: () => step('start over'),
      release: () => step('release'),
      isOff: async () => parts.isOff ?? false,
    },
    reconcileRoutes: async () => {
      inTheMiddle();
      return step('routes');
    },
    log: pino({ level: 'silent' }),
  });
  onTestFinished(() => restored.stop());
  return {
    restored,
    steps,
    store,
    path,
    /** Once, while routes are made equal. */
    meanwhile(work: () => void): void {
      inTheMiddle = () => {
        inTheMiddle = () => {};
        work();
      };
    },
    over: () => eventually(restored.isUnderway).toBe(false),
  };
};

const WHOLE = ['hold', 'start over', 'routes', 'release'];

test('a store that was never put back, or whose restore is in force, is not held up', () =>
  withTemporaryDirectory(async (directory) => {
    const never = given(directory);
    await never.restored.notice();
    expect(never.steps).toEqual([]);
    writeFileSync(never.path, '3\n');
    const known = given(directory, { count: 3 });
    await known.restored.notice();
    expect([known.steps, known.restored.isUnderway()]).toEqual([[], false]);
  }));

test('one that was put back lets nobody through until protection and routes are as stored, and is remembered', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, store, path, over } = given(directory);
    store.count = 1;
    await restored.notice();
    expect(steps[0]).toBe('hold');
    await over();
    expect(steps).toEqual(WHOLE);
    expect(readFileSync(path, 'utf8')).toBe('1\n');
    // Known from here on, by the next process, too.
    await restored.notice();
    const next = given(directory, { count: 1 });
    await next.restored.notice();
    expect([steps, next.steps]).toEqual([WHOLE, []]);
  }));

test.each(['', 'nonsense', '2'])('what a crash left in the file (%j) is no restore that is in force', (text) =>
  withTemporaryDirectory(async (directory) => {
    writeFileSync(join(directory, 'restored'), text);
    const { restored, steps, over } = given(directory, { count: 1 });
    await restored.notice();
    await over();
    expect(steps).toEqual(WHOLE);
  }),
);

test('nothing is taken to a proxy that could not be closed; whoever comes next tries again', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, over } = given(directory, { count: 1, fails: { hold: 1 } });
    await expect(restored.notice()).rejects.toThrow('HAProxy does not answer');
    expect(steps).toEqual(['hold']);
    await restored.notice();
    await over();
    expect(steps).toEqual(['hold', ...WHOLE]);
  }));

test.each([
  ['start over', ['hold', 'start over', ...WHOLE.slice(1)]],
  ['routes', ['hold', 'start over', 'routes', ...WHOLE.slice(1)]],
  ['release', [...WHOLE, ...WHOLE.slice(1)]],
])('when "%s" fails nobody is let through before all of it has succeeded', (failing, expected) =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, path, over } = given(directory, { count: 1, fails: { [failing]: 1 } });
    await restored.notice();
    await eventually(() => steps.length).toBe(expected.length - 3);
    expect(existsSync(path)).toBe(false);
    await over();
    expect(steps).toEqual(expected);
    expect(readFileSync(path, 'utf8')).toBe('1\n');
  }),
);

test('who has switched everything off is let in meanwhile', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, over } = given(directory, { count: 1, fails: { routes: 1 }, isOff: true });
    await restored.notice();
    await over();
    expect(steps).toEqual(['hold', 'start over', 'routes', 'release', ...WHOLE.slice(1)]);
  }));

test('a store that is put back once more meanwhile is begun with anew', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, store, path, meanwhile, over } = given(directory, { count: 1 });
    meanwhile(() => {
      store.count = 2;
    });
    await restored.notice();
    await over();
    expect(steps).toEqual(['hold', 'start over', 'routes', ...WHOLE.slice(1)]);
    expect(readFileSync(path, 'utf8')).toBe('2\n');
    // It is in force: nobody is kept out over it again.
    const soFar = [...steps];
    await restored.notice();
    expect([steps, restored.isUnderway()]).toEqual([soFar, false]);
  }));

test('a restore is closed to all right before it commits, and in force when it is over', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, store, path } = given(directory);
    const result = await restored.during(async (close) => {
      expect(steps).toEqual([]);
      await close();
      expect(steps).toEqual(['hold']);
      store.count = 1;
      return 'restored';
    });
    expect(result).toBe('restored');
    expect(steps).toEqual(WHOLE);
    expect(readFileSync(path, 'utf8')).toBe('1\n');
    // No news for who reads the store afterwards.
    await restored.notice();
    expect(steps).toEqual(WHOLE);
  }));

test('one that fails before it closes touches nothing; one that fails afterwards opens what is stored', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps } = given(directory);
    const early = restored.during(() => Promise.reject(new Error('not a backup')));
    await expect(early).rejects.toThrow('not a backup');
    expect(steps).toEqual([]);
    const late = restored.during(async (close) => {
      await close();
      throw new Error('the disk is full');
    });
    await expect(late).rejects.toThrow('the disk is full');
    expect(steps).toEqual(WHOLE);
  }));

test('a proxy that can not be closed keeps the store from being put back', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, store } = given(directory, { fails: { hold: 1 } });
    const swap = restored.during(async (close) => {
      await close();
      store.count = 1;
    });
    await expect(swap).rejects.toThrow('HAProxy does not answer');
    expect([store.count, steps]).toEqual([0, WHOLE]);
  }));

test('what is on its way is over before the store is put back once more, and lets nobody through meanwhile', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, store, meanwhile } = given(directory, { count: 1 });
    let hasBegun = false;
    let second: Promise<void> | undefined;
    meanwhile(() => {
      second = restored.during(async (close) => {
        hasBegun = true;
        expect(steps).toEqual(WHOLE);
        await close();
        store.count = 2;
      });
      expect(hasBegun).toBe(false);
    });
    await restored.notice();
    await eventually(() => hasBegun).toBe(true);
    await second;
    expect(steps).toEqual([...WHOLE, ...WHOLE]);
  }));

test('what another node has put back lets nobody through while this one is about to put back more', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, store } = given(directory);
    await restored.during(async (close) => {
      await close();
      store.count = 1;
      await restored.notice();
      await eventually(() => steps).toContain('routes');
      // All that follows at once has followed then.
      await new Promise(setImmediate);
      steps.push('swapped');
      store.count = 2;
    });
    expect(steps.indexOf('release')).toBeGreaterThan(steps.indexOf('swapped'));
  }));

test('a process that ends does not try for ever, and the next one goes on', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps } = given(directory, { count: 1, fails: { 'start over': 1_000 } });
    await restored.notice();
    await eventually(() => steps).toContain('start over');
    await restored.stop();
    expect(steps).not.toContain('release');
    const next = given(directory, { count: 1 });
    await next.restored.notice();
    await next.over();
    expect(next.steps).toEqual(WHOLE);
  }));

test('a store that is away is told to who asks, and nothing is let through by it', () =>
  withTemporaryDirectory(async (directory) => {
    const { restored, steps, store } = given(directory, { count: 1 });
    store.isAway = true;
    await expect(restored.notice()).rejects.toThrow('the store is away');
    expect(steps).toEqual([]);
  }));
