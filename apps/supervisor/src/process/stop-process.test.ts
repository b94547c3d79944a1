import { listProcesses, readProcess } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { adoptProcess, spawnProcess } from './running-process.ts';
import { stopProcess } from './stop-process.ts';

const never = new AbortController().signal;
const env = { PATH: process.env.PATH ?? '' };

const start = async (script: string) => {
  const child = await spawnProcess({ argv: ['sh', '-c', script], env, onOutput: () => undefined });
  onTestFinished(() => child.killGroup());
  return child;
};

const startStubborn = async () => {
  const child = await start("trap '' TERM; while :; do sleep 0.05; done");
  await until('the shell has set its trap and gone on', () =>
    listProcesses().some(({ parentPid }) => parentPid === child.pid),
  );
  return child;
};

test('ends a process by its first signal', async () => {
  const child = await start('exec sleep 60');
  await stopProcess(child, [{ signal: 'SIGTERM', waitMs: 30_000 }], never);
  expect(await child.ended).toEqual({ how: 'signal', signal: 'SIGTERM' });
});

test('kills a process that ignores the signals', async () => {
  const child = await startStubborn();
  await stopProcess(child, [{ signal: 'SIGTERM', waitMs: 50 }], never);
  expect(await child.ended).toEqual({ how: 'signal', signal: 'SIGKILL' });
});

test('kills at once when the deadline is over, whatever was to be tried before', async () => {
  const child = await startStubborn();
  const sent: NodeJS.Signals[] = [];
  const signal = (name: NodeJS.Signals) => {
    sent.push(name);
    child.signal(name);
  };
  const steps = (['SIGTERM', 'SIGINT'] as const).map((name) => ({ signal: name, waitMs: 3_600_000 }));
  await stopProcess({ ...child, signal }, steps, AbortSignal.timeout(20));
  expect(sent).toEqual(['SIGTERM']);
  expect(await child.ended).toEqual({ how: 'signal', signal: 'SIGKILL' });
});

test('stops an adopted process as well', async () => {
  const child = await start('exec sleep 60');
  const adopted = adoptProcess(await until('it runs', () => readProcess(child.pid)));
  await stopProcess(adopted, [{ signal: 'SIGTERM', waitMs: 30_000 }], never);
  expect(await adopted.ended).toEqual({ how: 'unknown' });
  expect(await child.ended).toEqual({ how: 'signal', signal: 'SIGTERM' });
});

test('names the program that can not be started', async () => {
  await expect(spawnProcess({ argv: ['/nowhere/haproxy'], env, onOutput: undefined })).rejects.toThrow(
    'cannot start /nowhere/haproxy',
  );
});
