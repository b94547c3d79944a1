import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { readProcess } from '@sallyport/deployment/processes';
import { writeState } from '@sallyport/deployment/supervisor-state';
import { expect, onTestFinished, test } from 'vitest';
import { answering, givenSupervisor, isGone, isUp, isUpOtherThan, ports } from './testing/given-supervisor.ts';

test('adopts the children of a killed supervisor, watches and stops them', async () => {
  const { child, start } = givenSupervisor();
  const children = [child('web', ports.web), child('api', ports.api)];
  const first = await start(...children);
  const [web, api] = [await isUp(ports.web), await isUp(ports.api)];
  await first.end('SIGKILL');
  const second = await start(...children);
  process.kill(web, 'SIGKILL');
  const newWeb = await isUpOtherThan(ports.web, web);
  expect(await answering(ports.api)).toBe(api);
  await second.end('SIGTERM');
  expect([newWeb, api].map((pid) => readProcess(pid))).toEqual([undefined, undefined]);
});

test('replaces a child that lives but was started with other settings', async () => {
  const { child, start } = givenSupervisor();
  const first = await start(child('web', ports.web, { setting: 'a' }));
  const former = await isUp(ports.web);
  await first.end('SIGKILL');
  await start(child('web', ports.web, { setting: 'b' }));
  await isUpOtherThan(ports.web, former);
  await isGone(former);
});

test('ends a child of a killed supervisor that is no longer wanted', async () => {
  const { child, start } = givenSupervisor();
  const [web, api] = [child('web', ports.web), child('api', ports.api)];
  const first = await start(web, api);
  const pids = [await isUp(ports.web), await isUp(ports.api)] as const;
  await first.end('SIGKILL');
  await start(web);
  await isGone(pids[1]);
  expect(await answering(ports.web)).toBe(pids[0]);
});

test('replaces a child of a killed supervisor that left no state', async () => {
  const { child, start, stateFile } = givenSupervisor();
  const first = await start(child('web', ports.web));
  const former = await isUp(ports.web);
  await first.end('SIGKILL');
  rmSync(stateFile);
  await start(child('web', ports.web));
  await isUpOtherThan(ports.web, former);
  await isGone(former);
});

test('keeps children running when it cannot write down which', async () => {
  const { child, start, stateFile } = givenSupervisor();
  // A directory in its place: neither written nor read.
  mkdirSync(`${stateFile}.new`);
  mkdirSync(stateFile);
  const supervisor = await start(child('web', ports.web));
  const pid = await isUp(ports.web);
  process.kill(pid, 'SIGKILL');
  await isUpOtherThan(ports.web, pid);
  await supervisor.end('SIGTERM');
});

test('leaves a stranger alone whose pid the state names', async () => {
  const { child, start, stateFile } = givenSupervisor();
  const stranger = spawn('sleep', ['60']);
  await once(stranger, 'spawn');
  onTestFinished(() => void stranger.kill('SIGKILL'));
  const { pid, startTime } = readProcess(stranger.pid!)!;
  const saved = { name: 'web', pid, start_time: startTime, argv: ['sleep', '60'] };
  writeState(stateFile, { boot_id: '', proxy_http: '', proxy_https: '', children: [saved] });
  const supervisor = await start(child('web', ports.web));
  await isUp(ports.web);
  await supervisor.end('SIGTERM');
  expect(readProcess(pid)).toBeDefined();
});
