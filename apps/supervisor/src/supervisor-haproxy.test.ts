import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { listProcesses, readProcess } from '@sallyport/deployment/processes';
import { expect, test } from 'vitest';
import { answering, givenSupervisor, isGone, isUp, isUpOtherThan, ports } from './testing/given-supervisor.ts';

/** Master and workers of this test's HAProxy. */
const haproxies = (config: string) => listProcesses().filter(({ argv }) => argv.includes(config));

test('replaces a HAProxy whose worker hangs, master and worker', async () => {
  const { haproxy, start, haproxyConfig } = givenSupervisor();
  await start(haproxy());
  const worker = await isUp(ports.proxy);
  const master = readProcess(worker)!.parentPid;
  process.kill(worker, 'SIGSTOP');
  const newWorker = await isUpOtherThan(ports.proxy, worker);
  expect([worker, master].map((pid) => readProcess(pid))).toEqual([undefined, undefined]);
  const living = haproxies(haproxyConfig).map(({ pid }) => pid);
  expect(living.toSorted()).toEqual([newWorker, readProcess(newWorker)!.parentPid].toSorted());
});

test.each(['master', 'worker'])('brings HAProxy back when its %s is killed, one of each and no more', async (which) => {
  const { haproxy, start, haproxyConfig } = givenSupervisor();
  await start(haproxy());
  const worker = await isUp(ports.proxy);
  const master = readProcess(worker)!.parentPid;
  process.kill(which === 'master' ? master : worker, 'SIGKILL');
  const newWorker = await isUpOtherThan(ports.proxy, worker);
  const living = haproxies(haproxyConfig).map(({ pid }) => pid);
  expect(living.toSorted()).toEqual([newWorker, readProcess(newWorker)!.parentPid].toSorted());
});

test('ends a worker that hangs and outlives its killed master', async () => {
  const { haproxy, start, haproxyConfig } = givenSupervisor();
  await start(haproxy());
  const worker = await isUp(ports.proxy);
  process.kill(worker, 'SIGSTOP');
  process.kill(readProcess(worker)!.parentPid, 'SIGKILL');
  await isGone(worker);
  await isUpOtherThan(ports.proxy, worker);
  expect(haproxies(haproxyConfig)).toHaveLength(2);
});

test('replaces a HAProxy that works in a directory which was deleted and made anew', async () => {
  const { haproxy, start, dataDir } = givenSupervisor();
  const cwd = join(dataDir, 'run');
  mkdirSync(cwd);
  const first = await start({ ...haproxy(), cwd });
  const worker = await isUp(ports.proxy);
  await first.end('SIGKILL');
  rmSync(cwd, { recursive: true });
  mkdirSync(cwd);
  await start({ ...haproxy(), cwd });
  await isUpOtherThan(ports.proxy, worker);
  await isGone(worker);
});

test('brings an adopted HAProxy back when its worker is killed', async () => {
  const { haproxy, start, haproxyConfig } = givenSupervisor();
  const first = await start(haproxy());
  const worker = await isUp(ports.proxy);
  await first.end('SIGKILL');
  await start(haproxy());
  process.kill(worker, 'SIGKILL');
  const newWorker = await isUpOtherThan(ports.proxy, worker);
  const living = haproxies(haproxyConfig).map(({ pid }) => pid);
  expect(living.toSorted()).toEqual([newWorker, readProcess(newWorker)!.parentPid].toSorted());
});

test('adopts a living HAProxy, master and worker', async () => {
  const { haproxy, start, haproxyConfig } = givenSupervisor();
  const first = await start(haproxy());
  const worker = await isUp(ports.proxy);
  const pids = () => haproxies(haproxyConfig).map(({ pid }) => pid);
  const before = pids();
  await first.end('SIGKILL');
  const second = await start(haproxy());
  // Its worker is not our child's only process: none of them may be taken for one that is left over.
  expect(pids()).toEqual(before);
  expect(await answering(ports.proxy)).toBe(worker);
  await second.end('SIGTERM');
  expect(haproxies(haproxyConfig)).toEqual([]);
  expect(readProcess(worker)).toBeUndefined();
});
