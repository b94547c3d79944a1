import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isStillRunning, listProcesses, readProcess } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { endStrays, isAdoptable, worksIn } from './adoption.ts';
import { spawnProcess } from './process/running-process.ts';

const givenDataDir = () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-adopt-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

const PATH = process.env.PATH ?? '';

/** Starts a program, and tells of it when it, or what it becomes, is the one that runs. */
const start = async (
  argv: readonly [string, ...string[]],
  env: Record<string, string>,
  cwd?: string,
  becomes: readonly string[] = argv,
) => {
  const child = await spawnProcess({ argv, env: { PATH, ...env }, cwd, onOutput: () => undefined });
  onTestFinished(() => child.killGroup());
  const isIt = (info: ReturnType<typeof readProcess>) => info?.argv.join(' ') === becomes.join(' ') && info;
  const info = await until(`${becomes[0]} runs`, () => isIt(readProcess(child.pid)));
  return { child, info };
};

const SLEEP = ['sleep', '60'] as const;

test('takes over what it would start: the same program for the same data directory with the same settings', async () => {
  const SALLYPORT_DATA_DIR = givenDataDir();
  const settings = { SALLYPORT_DATA_DIR, SALLYPORT_GUARDS: '2', DATABASE_URL: 'postgres://db/x' };
  const { info } = await start(SLEEP, { ...settings, LANG: 'C' });
  const adoptable = (argv: readonly [string, ...string[]], env: Record<string, string>) =>
    isAdoptable(info, { argv, env });
  expect(adoptable(SLEEP, settings)).toBe(true);
  expect(adoptable(SLEEP, { ...settings, LANG: 'other', TZ: 'UTC' })).toBe(true);
  // More arguments than ours: what HAProxy gives itself when it reloads.
  expect(adoptable(['sleep'], settings)).toBe(true);

  expect(adoptable(['sleep', '61'], settings)).toBe(false);
  expect(adoptable(['sleep', '60', '1'], settings)).toBe(false);
  expect(adoptable(SLEEP, { ...settings, SALLYPORT_DATA_DIR: `${SALLYPORT_DATA_DIR}x` })).toBe(false);
  expect(adoptable(SLEEP, { ...settings, SALLYPORT_GUARDS: '3' })).toBe(false);
  expect(adoptable(SLEEP, { ...settings, SALLYPORT_GUARD_TIMEOUT: '1s' })).toBe(false);
  expect(adoptable(SLEEP, { ...settings, DATABASE_URL: 'postgres://db/y' })).toBe(false);
  expect(adoptable(SLEEP, { SALLYPORT_DATA_DIR, SALLYPORT_GUARDS: '2' })).toBe(false);
  expect(adoptable(SLEEP, { SALLYPORT_DATA_DIR, DATABASE_URL: 'postgres://db/x' })).toBe(false);
});

test('takes over what works in the very directory, not in one of its name that was deleted', async () => {
  const SALLYPORT_DATA_DIR = givenDataDir();
  const cwd = join(SALLYPORT_DATA_DIR, 'run');
  mkdirSync(cwd);
  const { info } = await start(SLEEP, { SALLYPORT_DATA_DIR }, cwd);
  const child = { argv: SLEEP, env: { SALLYPORT_DATA_DIR } };
  expect(isAdoptable(info, { ...child, cwd })).toBe(true);
  expect(isAdoptable(info, { ...child, cwd: SALLYPORT_DATA_DIR })).toBe(false);
  expect(worksIn(info.pid, cwd)).toBe(true);
  rmSync(cwd, { recursive: true });
  expect(worksIn(info.pid, cwd)).toBe(false);
  mkdirSync(cwd);
  expect(worksIn(info.pid, cwd)).toBe(false);
  expect(isAdoptable(info, { ...child, cwd })).toBe(false);
  expect(isAdoptable(info, child)).toBe(true);
});

test('ends what is left over of a child, and nothing of another data directory or program', async () => {
  const [SALLYPORT_DATA_DIR, another] = [givenDataDir(), givenDataDir()];
  const env = { SALLYPORT_DATA_DIR };
  const strays = [await start(SLEEP, env), await start(SLEEP, { ...env, SALLYPORT_GUARDS: '9' })];
  const others = [await start(SLEEP, { SALLYPORT_DATA_DIR: another }), await start(['sleep', '61'], env)];
  expect(await endStrays({ argv: SLEEP, env }, undefined)).toBe(2);
  expect(strays.map(({ info }) => isStillRunning(info))).toEqual([false, false]);
  expect(others.map(({ info }) => isStillRunning(info))).toEqual([true, true]);
  expect(await strays[0]!.child.ended).toEqual({ how: 'signal', signal: 'SIGTERM' });
  expect(await endStrays({ argv: SLEEP, env }, undefined)).toBe(0);
});

test('keeps the process that is to go on, and what that one has started', async () => {
  const env = { SALLYPORT_DATA_DIR: givenDataDir() };
  const script = ['sh', '-c', 'if [ "$MASTER" ]; then unset MASTER; sh -c "$0" "$0"; fi; sleep 60; :'] as const;
  const argv = [...script.slice(0, 2), script[2], script[2]] as unknown as readonly [string, ...string[]];
  const { child, info } = await start(argv, { ...env, MASTER: 'yes' });
  const worker = await until('it has a worker', () =>
    listProcesses().find(({ parentPid, argv: [program] }) => parentPid === child.pid && program === 'sh'),
  );
  const stray = await start(argv, env);
  // Until then it is a second shell, as far as one can see.
  const sleeps = (pid: number) =>
    listProcesses().some(({ parentPid, argv: [of] }) => parentPid === pid && of === 'sleep');
  await until('both sleep', () => sleeps(worker.pid) && sleeps(stray.child.pid));
  expect(await endStrays({ argv: ['sh', '-c'], env }, child.pid)).toBe(1);
  expect([info, worker, stray.info].map(isStillRunning)).toEqual([true, true, false]);
});

test('kills what does not go', async () => {
  const env = { SALLYPORT_DATA_DIR: givenDataDir() };
  // No shell that starts one program after the other: until it is that program, each child is a second shell, as far as one can see.
  const { child } = await start(['sh', '-c', "trap '' TERM; exec sleep 60"], env, undefined, SLEEP);
  expect(await endStrays({ argv: SLEEP, env }, undefined)).toBe(1);
  expect(await child.ended).toEqual({ how: 'signal', signal: 'SIGKILL' });
});
