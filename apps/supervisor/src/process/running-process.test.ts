import { readlinkSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { isStillRunning, listProcesses, readProcess } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { adoptProcess, type RunningProcess, spawnProcess } from './running-process.ts';

const env = { PATH: process.env.PATH ?? '', ANSWER: '42' };

const start = async (script: string) => {
  const output: Partial<Record<'stdout' | 'stderr', Promise<string>>> = {};
  const child = await spawnProcess({
    argv: ['sh', '-c', script],
    env,
    cwd: tmpdir(),
    onOutput: (stream, from) => {
      output[from] = text(stream);
    },
  });
  onTestFinished(() => child.killGroup());
  return { child, output };
};

test('runs a program with that environment in that directory, and hands over what it writes', async () => {
  const { child, output } = await start('echo $ANSWER $HOME $PWD; echo problem >&2; read line; exit 5');
  expect(await child.ended).toEqual({ how: 'code', code: 5 });
  expect(await output.stdout).toBe(`42 ${realpathSync(tmpdir())}\n`);
  expect(await output.stderr).toBe('problem\n');
});

test('one whose output nobody wants writes to ours, and reads nothing', async () => {
  const child = await spawnProcess({ argv: ['sleep', '60'], env, onOutput: undefined });
  onTestFinished(() => child.killGroup());
  const opened = (pid: number | 'self', fd: number) => readlinkSync(`/proc/${pid}/fd/${fd}`);
  expect([1, 2].map((fd) => opened(child.pid, fd))).toEqual([1, 2].map((fd) => opened('self', fd)));
  expect(opened(child.pid, 0)).toBe('/dev/null');
});

test('is a process of that time, in a session of its own', async () => {
  const { child } = await start('exec sleep 60');
  const info = readProcess(child.pid);
  expect(child).toMatchObject({ startTime: info?.startTime, argv: ['sh', '-c', 'exec sleep 60'] });
  // A group of its own: nothing is sent to ours.
  expect(() => process.kill(-child.pid, 0)).not.toThrow();
  child.signal('SIGINT');
  expect(await child.ended).toEqual({ how: 'signal', signal: 'SIGINT' });
});

const ways: [string, (child: RunningProcess) => RunningProcess][] = [
  ['started', (child) => child],
  ['adopted', (child) => adoptProcess(readProcess(child.pid)!)],
];

test.each(ways)('of one that was %s, all it has started is killed with it', async (_way, of) => {
  const { child } = await start('sleep 60 & wait');
  const descendant = await until('it has a child', () =>
    listProcesses().find(({ parentPid }) => parentPid === child.pid),
  );
  const running = of(child);
  running.killGroup();
  await running.ended;
  expect(await child.ended).toEqual({ how: 'signal', signal: 'SIGKILL' });
  await until('its child has ended', () => !isStillRunning(descendant));
});

test.each(ways)('one that was %s and has ended is sent nothing any more', async (_way, of) => {
  const { child } = await start('exec sleep 60');
  const running = of(child);
  running.signal('SIGKILL');
  await running.ended;
  await child.ended;
  running.signal('SIGTERM');
  running.killGroup();
});

test('one that was adopted is known by what it was started as', async () => {
  const { child } = await start('exec sleep 60');
  const info = await until('it runs', () => {
    const found = readProcess(child.pid);
    return found?.argv[0] === 'sleep' ? found : undefined;
  });
  expect(adoptProcess(info)).toMatchObject({ pid: child.pid, startTime: child.startTime, argv: ['sleep', '60'] });
  // Another process has its number now: it is left alone.
  const another = adoptProcess({ ...info, startTime: `${info.startTime}0` });
  another.signal('SIGKILL');
  another.killGroup();
  expect(await another.ended).toEqual({ how: 'unknown' });
  expect(isStillRunning(info)).toBe(true);
});
