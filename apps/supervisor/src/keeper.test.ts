import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcess } from '@sallyport/deployment/processes';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import type { ChildSpec } from './child-spec.ts';
import { type Keeper, keepRunning } from './keeper.ts';
import { adoptProcess, type RunningProcess, spawnProcess } from './process/running-process.ts';

interface Line {
  time: number;
  level: number;
  msg: string;
  pid?: number;
  strays?: number;
  lines?: number;
  delayMs?: number;
  failures?: number;
}

const ENDED = 'ended, starting it again';

/** Runs until it is ended; `work` is run first. */
const staying = (work = ''): readonly [string, ...string[]] => [
  process.execPath,
  '-e',
  `${work}; setInterval(() => {}, 1_000);`,
];

/** Keeps a child that serves nothing, and what is said about it. */
const givenKeeper = (parts: Partial<ChildSpec>, adopted?: RunningProcess) => {
  /** The process at each change, or 0. */
  const seen: number[] = [];
  const lines: Line[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  // One that is taken over changes before it is there to be asked.
  let made: Keeper | undefined;
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
    adopted,
    log,
    random: () => 0,
    onChange: () => void seen.push(made?.current()?.pid ?? 0),
  });
  made = keeper;
  onTestFinished(() => keeper.stop(AbortSignal.timeout(5_000)));
  return {
    keeper,
    seen,
    said: (msg: string) => lines.filter((line) => line.msg === msg),
    ends: () => lines.filter(({ msg }) => msg === ENDED),
    running: async (): Promise<number> => {
      await eventually(() => keeper.current()?.pid).toBeDefined();
      return keeper.current()!.pid;
    },
  };
};

const givenDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-keeper-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
};

const isGone = (pid: number) => eventually(() => readProcess(pid)).toBeUndefined();
const impatient = { idleMs: 500, busyMs: 500 };

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
  const { keeper, ends, said } = givenKeeper(parts);
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
  // It has ended, which is no silence.
  expect(said('can not be watched')).toEqual([]);
});

test('a wait is over when the child is to be stopped', async () => {
  const { keeper, ends } = givenKeeper({ argv: ['/nowhere/program'] });
  await expect.poll(() => ends().length).toBe(2);
  const stopped = keeper.stop(AbortSignal.timeout(5_000)).then(() => 'stopped');
  expect(await Promise.race([stopped, sleep(60_000, 'waits', { ref: false })])).toBe('stopped');
  expect(ends()).toHaveLength(2);
  expect(keeper.current()).toBeUndefined();
});

test('a child that is prepared when it is to be stopped is not started', async () => {
  const prepared = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { keeper, seen, ends } = givenKeeper({
    argv: staying(),
    prepare: () => {
      asked.resolve();
      return prepared.promise;
    },
  });
  expect(keeper.name).toBe('child');
  await asked.promise;
  const stopped = keeper.stop(AbortSignal.timeout(5_000));
  prepared.resolve();
  await stopped;
  expect([seen, ends()]).toEqual([[], []]);
});

test('a child that is being started when it is to be stopped is stopped', async () => {
  const stopped = Promise.withResolvers<string>();
  const { keeper, seen } = givenKeeper({
    argv: staying(),
    // Its process is there by then, and not known to be yet.
    prepare: async () =>
      process.nextTick(() => keeper.stop(AbortSignal.timeout(5_000)).then(() => stopped.resolve('stopped'))),
  });
  expect(await Promise.race([stopped.promise, sleep(20_000, 'runs on', { ref: false })])).toBe('stopped');
  expect(keeper.current()).toBeUndefined();
  const started = seen.filter((pid) => pid !== 0);
  expect(started).toHaveLength(1);
  await isGone(started[0]!);
});

test.each([
  ['goes when it is asked to', 'process.exit(7)'],
  ['does not', ''],
])('a child without a sign of life is replaced, whether it %s', async (_how, onTerm) => {
  const marks = givenDirectory();
  const mark = join(marks, 'asked');
  const { keeper, said, running } = givenKeeper({
    argv: staying(
      `process.on('SIGTERM', () => { require('fs').writeFileSync(${JSON.stringify(mark)}, ''); ${onTerm} })`,
    ),
    patience: { ...impatient, start: { idleMs: 3_000, busyMs: 60_000 } },
  });
  const first = await running();
  await eventually(() => keeper.past().restarts).toBeGreaterThanOrEqual(1);
  await isGone(first);
  // Asked first, ended afterwards.
  expect(existsSync(mark)).toBe(true);
  expect(keeper.past().lastEnd?.why).toMatch(/^gave no sign of life for \d+ s \((idle|busy)\)$/);
  expect(said('gives no sign of life, it is replaced')[0]).toMatchObject({ level: 50 });
  await eventually(() => keeper.current()?.pid ?? first).not.toBe(first);
});

test('a child that serves is ready, and not started again', async () => {
  let isServing = false;
  const { keeper, seen, said, running } = givenKeeper({ argv: staying(), isAlive: async () => isServing });
  const pid = await running();
  let isReady = false;
  void keeper.ready.then(() => {
    isReady = true;
  });
  await sleep(0);
  expect(isReady).toBe(false);
  isServing = true;
  await keeper.ready;
  // The first start is no news.
  expect(said('ready')).toMatchObject([{ level: 20, pid }]);
  expect([keeper.current()?.pid, keeper.past()]).toEqual([pid, { restarts: 0, lastEnd: undefined }]);
  process.kill(pid, 'SIGKILL');
  await eventually(() => said('ready')).toHaveLength(2);
  expect(said('ready')[1]).toMatchObject({ level: 30, pid: keeper.current()?.pid });
  expect(keeper.past()).toMatchObject({ restarts: 1, lastEnd: { why: 'was ended by SIGKILL' } });
  // Each change is told: it ran, it ended, its end is known, another one ran.
  expect(seen).toEqual([pid, 0, 0, keeper.current()?.pid]);
  await keeper.stop(AbortSignal.timeout(5_000));
  expect(seen.at(-1)).toBe(0);
  await isGone(said('ready')[1]!.pid!);
});

test('a child that can not be watched runs on', async () => {
  const { keeper, said, running } = givenKeeper({
    argv: staying(),
    isAlive: () => Promise.reject(new Error('the socket is away')),
  });
  const pid = await running();
  await eventually(() => said('can not be watched')).toHaveLength(1);
  expect([keeper.current()?.pid, keeper.past().restarts]).toEqual([pid, 0]);
});

test('what a child says is logged as it is meant, and left out when it is too much', async () => {
  const { keeper, said, running } = givenKeeper({
    argv: staying(
      // It listens before it says anything: what it has said tells that it can be stopped.
      "process.on('SIGTERM', () => { console.error('bye'); process.exit(0) }); console.log('hello'); console.error('oh'); for (let i = 0; i < 100; i++) console.log('again')",
    ),
    output: (line, from) => ({ level: from === 'stderr' ? 'error' : 'info', message: line, fields: { lines: 7 } }),
  });
  await running();
  await eventually(() => said('again').length).toBeGreaterThan(0);
  await eventually(() => said('oh')).toMatchObject([{ level: 50, lines: 7 }]);
  expect(said('hello')).toMatchObject([{ level: 30 }]);
  await keeper.stop(AbortSignal.timeout(5_000));
  // The complaints of one that is being stopped are no news.
  await eventually(() => said('bye')).toMatchObject([{ level: 20 }]);
  await eventually(() => said('says too much, lines left out').length).toBeGreaterThan(0);
  expect(said('says too much, lines left out')[0]!.lines).toBeGreaterThan(0);
});

test('what was left over of a child is ended before it is started, and when it was stopped', async () => {
  const directory = givenDirectory();
  const parts = { argv: staying(), env: { SALLYPORT_DATA_DIR: directory } };
  const stray = () => spawnProcess({ ...parts, onOutput: undefined });
  const before = await stray();
  const { keeper, said, running } = givenKeeper(parts);
  expect(await running()).not.toBe(before.pid);
  expect(said('ended processes that were left over')).toMatchObject([{ level: 40, strays: 1 }]);
  await isGone(before.pid);
  const beside = await stray();
  await keeper.stop(AbortSignal.timeout(5_000));
  await isGone(beside.pid);
});

test('a process that was running already is taken over, and one that ends is replaced', async () => {
  const directory = givenDirectory();
  const parts = { argv: staying(), env: { SALLYPORT_DATA_DIR: directory } };
  const former = await spawnProcess({ ...parts, onOutput: undefined });
  const { keeper, said, running } = givenKeeper(parts, adoptProcess(readProcess(former.pid)!));
  expect(await running()).toBe(former.pid);
  expect(said('goes on, it was running already')).toMatchObject([{ pid: former.pid }]);
  former.signal('SIGKILL');
  await eventually(() => keeper.current()?.pid ?? former.pid).not.toBe(former.pid);
  // It was not ours, so nobody tells how it ended.
  expect(keeper.past()).toMatchObject({ restarts: 1, lastEnd: { why: 'ended' } });
});
