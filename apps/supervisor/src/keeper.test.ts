import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { ChildSpec } from './child-spec.ts';
import { keepRunning } from './keeper.ts';

interface Line {
  time: number;
  msg: string;
  delayMs?: number;
  failures?: number;
}

const ENDED = 'ended, starting it again';

/** Keeps a child that serves nothing, and what is said about it. */
const givenKeeper = (parts: Partial<ChildSpec>) => {
  const lines: Line[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const keeper = keepRunning({
    child: {
      name: 'child',
      argv: [process.execPath, '-e', ''],
      env: { SALLYPORT_DATA_DIR: '/nowhere' },
      output: 'ours',
      stop: [{ signal: 'SIGTERM', waitMs: 1_000 }],
      isAlive: async () => false,
      patience: { idleMs: 60_000, busyMs: 60_000, start: { idleMs: 60_000, busyMs: 60_000 } },
      ...parts,
    },
    adopted: undefined,
    log,
    random: () => 0,
    onChange: () => {},
  });
  onTestFinished(() => keeper.stop(AbortSignal.timeout(5_000)));
  return { keeper, ends: () => lines.filter(({ msg }) => msg === ENDED) };
};

const failing: [what: string, parts: Partial<ChildSpec>, why: string][] = [
  ['ends at once', { argv: [process.execPath, '-e', 'process.exit(3)'] }, 'ended with code 3'],
  ['can not be started', { argv: ['/nowhere/program'] }, 'could not be started: cannot start /nowhere/program'],
  [
    'can not be prepared',
    { prepare: () => Promise.reject(new Error('the port is taken')) },
    'could not be started: the port is taken',
  ],
];

test.each(failing)('a child that %s is started again, after longer and longer waits', async (_what, parts, why) => {
  const { keeper, ends } = givenKeeper(parts);
  await expect.poll(() => ends().length).toBe(4);
  expect(ends().map(({ failures, delayMs }) => [failures, delayMs])).toEqual([
    [1, 0],
    [2, 1_000],
    [3, 2_000],
    [4, 4_000],
  ]);
  // It did wait, and not only say so. Timers may be a moment early.
  const [, second, third, fourth] = ends().map(({ time }) => time);
  expect(third! - second!).toBeGreaterThanOrEqual(990);
  expect(fourth! - third!).toBeGreaterThanOrEqual(1_990);
  expect(keeper.past()).toMatchObject({ restarts: 4, lastEnd: { why } });
});

test('a wait is over when the child is to be stopped', async () => {
  const { keeper, ends } = givenKeeper({ argv: ['/nowhere/program'] });
  await expect.poll(() => ends().length).toBe(2);
  const stopped = keeper.stop(AbortSignal.timeout(5_000)).then(() => 'stopped');
  expect(await Promise.race([stopped, sleep(60_000, 'waits', { ref: false })])).toBe('stopped');
  expect(ends()).toHaveLength(2);
  expect(keeper.current()).toBeUndefined();
});
