import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readProcess } from '@sallyport/deployment/processes';
import { readState } from '@sallyport/deployment/supervisor-state';
import { expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { answering, givenSupervisor, isGone, isUp, isUpOtherThan, ports } from './testing/given-supervisor.ts';

test('starts its children and stops them all', async () => {
  const { child, start, stateFile } = givenSupervisor();
  const supervisor = await start(child('web', ports.web), child('api', ports.api));
  const pids = [await isUp(ports.web), await isUp(ports.api)];
  expect(readState(stateFile)?.children.map(({ pid }) => pid)).toEqual(pids);
  await supervisor.end('SIGTERM');
  expect(pids.map((pid) => readProcess(pid))).toEqual([undefined, undefined]);
});

test('stops children that ignore SIGTERM', async () => {
  const { child, start } = givenSupervisor();
  const supervisor = await start(child('web', ports.web, { manner: 'stubborn' }));
  const pid = await isUp(ports.web);
  await supervisor.end('SIGTERM');
  expect(readProcess(pid)).toBeUndefined();
});

test('starts a killed child again and leaves the others alone', async () => {
  const { child, start } = givenSupervisor();
  await start(child('web', ports.web), child('api', ports.api));
  const [web, api] = [await isUp(ports.web), await isUp(ports.api)];
  process.kill(web, 'SIGKILL');
  await isUpOtherThan(ports.web, web);
  expect(await answering(ports.api)).toBe(api);
});

/** Why children were replaced, as the state tells. */
const lastEnds = (stateFile: string) => (readState(stateFile)?.past ?? []).map(({ last_end }) => last_end?.why);

interface Hang {
  how: string;
  manner?: 'stubborn';
  hang: (pid: number) => void;
  state: string;
}

test.each<Hang>([
  // One that was silent already when it was stopped may be taken for idle a moment earlier.
  { how: 'is stopped', hang: (pid: number) => void process.kill(pid, 'SIGSTOP'), state: 'stopped|idle' },
  {
    how: 'is stopped and stubborn',
    manner: 'stubborn',
    hang: (pid: number) => void process.kill(pid, 'SIGSTOP'),
    state: 'stopped|idle',
  },
  { how: 'waits for ever', hang: () => void answering(ports.web, '/wait'), state: 'idle' },
  { how: 'works for ever', hang: () => void answering(ports.web, '/work?ms=600000'), state: 'busy' },
])('replaces a child that $how, and leaves the others alone', async ({ manner, hang, state }) => {
  const { child, start, stateFile } = givenSupervisor();
  await start(child('web', ports.web, manner ? { manner } : {}), child('api', ports.api));
  const [web, api] = [await isUp(ports.web), await isUp(ports.api)];
  hang(web);
  await isUpOtherThan(ports.web, web);
  expect(readProcess(web)).toBeUndefined();
  expect(await answering(ports.api)).toBe(api);
  const [why, other] = lastEnds(stateFile);
  expect(why).toMatch(new RegExp(`^gave no sign of life for \\d+ s \\(${state}\\)$`));
  expect(other).toBeUndefined();
});

test('waits for a child that is only busy', async () => {
  const { child, start, stateFile } = givenSupervisor();
  await start(child('web', ports.web));
  const web = await isUp(ports.web);
  // Longer than its patience with one that does nothing.
  expect(await answering(ports.web, '/work?ms=4000')).toBe(web);
  expect(lastEnds(stateFile)).toEqual([undefined]);
});

/** Connections to a port of this host that its program has yet to accept, as the kernel counts them. */
const waitingToBeAccepted = (port: number): number => {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const listener = lines.find(([, local, , state]) => local === address && state === '0A');
  return Number.parseInt(listener?.[4]?.split(':')[1] ?? '0', 16);
};

test('does not take its own standing still for that of its children', async () => {
  const { child, start, stateFile } = givenSupervisor();
  const supervisor = await start(child('web', ports.web));
  const web = await isUp(ports.web);
  // Both, as when the machine sleeps, for longer than any patience; the child comes back a moment later.
  supervisor.signal('SIGSTOP');
  process.kill(web, 'SIGSTOP');
  await sleep(6_500);
  supervisor.signal('SIGCONT');
  // It has asked again: the round in which it stood still is over.
  await until('it asks twice in vain', () => waitingToBeAccepted(ports.web) >= 2);
  process.kill(web, 'SIGCONT');
  await isUp(ports.web);
  const before = (await answering(ports.web, '/asked')) ?? 0;
  await until('it has heard the child', async () => ((await answering(ports.web, '/asked')) ?? 0) > before);
  expect(await answering(ports.web)).toBe(web);
  expect(lastEnds(stateFile)).toEqual([undefined]);
});

test('replaces a hung child that it has adopted', async () => {
  const { child, start } = givenSupervisor();
  const first = await start(child('web', ports.web));
  const web = await isUp(ports.web);
  await first.end('SIGKILL');
  await start(child('web', ports.web));
  process.kill(web, 'SIGSTOP');
  await isUpOtherThan(ports.web, web);
  await isGone(web);
});

test('goes on starting a child that was killed again and again', async () => {
  const { child, start } = givenSupervisor();
  await start(child('web', ports.web));
  let pid = await isUp(ports.web);
  for (let round = 0; round < 3; round += 1) {
    process.kill(pid, 'SIGKILL');
    pid = await isUpOtherThan(ports.web, pid);
  }
});
