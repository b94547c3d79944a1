import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listProcesses, readProcess } from '@sallyport/deployment/processes';
import { readState, writeState } from '@sallyport/deployment/supervisor-state';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../../test/support/free-ports.ts';
import { until } from '../../../test/support/until.ts';
import { endStrays } from './adoption.ts';
import type { RunSupervisor } from './testing/run-supervisor.ts';

const script = (name: string) => fileURLToPath(new URL(`./testing/${name}`, import.meta.url));

const [web = 0, api = 0, proxy = 0] = await freePorts(3);
const ports = { web, api, proxy };

interface ChildOptions {
  manner?: 'stubborn';
  setting?: string;
}

/** A directory with children of its own, and a supervisor for them that can be started again and again. */
const givenSupervisor = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-sup-'));
  const child = (name: string, port: number, { manner, setting = 'a' }: ChildOptions = {}) => ({
    name,
    argv: [process.execPath, script('tiny-server.ts'), String(port), ...(manner ? [manner] : [])] as const,
    env: { PATH: process.env.PATH ?? '', SALLYPORT_DATA_DIR: dataDir, SALLYPORT_SETTING: setting },
    stop: [{ signal: 'SIGTERM', waitMs: 1_000 }] as const,
    port,
  });
  const haproxyConfig = join(dataDir, 'haproxy.cfg');
  const haproxy = () => {
    writeFileSync(
      haproxyConfig,
      `defaults\n  mode http\n  timeout connect 1s\n  timeout client 9s\n  timeout server 9s\nfrontend all\n  bind 127.0.0.1:${ports.proxy}\n  http-request return status 200 content-type text/plain lf-string %pid\n`,
    );
    return {
      name: 'haproxy',
      argv: ['haproxy', '-W', '-f', haproxyConfig] as const,
      env: { PATH: `${process.env.PATH}:/usr/sbin`, SALLYPORT_DATA_DIR: dataDir },
      stop: [{ signal: 'SIGUSR1', waitMs: 1_000 }] as const,
      port: ports.proxy,
    };
  };
  const stateFile = join(dataDir, 'supervisor.json');
  const used: RunSupervisor['children'] = [];
  const start = async (...children: RunSupervisor['children']) => {
    used.push(...children);
    const settings = join(dataDir, 'run.json');
    writeFileSync(settings, JSON.stringify({ stateFile, children } satisfies RunSupervisor));
    const supervisor = spawn(process.execPath, [script('run-supervisor.ts'), settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void supervisor.kill('SIGKILL'));
    // Its first line of log says that a child is adopted or ready: by then it listens to signals.
    await once(supervisor.stdout, 'data');
    supervisor.stdout.resume();
    const end = async (signal: NodeJS.Signals) => {
      const exited = once(supervisor, 'exit');
      supervisor.kill(signal);
      await exited;
    };
    return { end, signal: (name: NodeJS.Signals) => void supervisor.kill(name) };
  };
  onTestFinished(async () => {
    // Whatever a failed test left: the supervisor is dead by now (hooks run last to first).
    for (const spec of used) await endStrays(spec, undefined);
    rmSync(dataDir, { recursive: true });
  });
  return { child, haproxy, start, stateFile, haproxyConfig, dataDir };
};

/** The pid that answers on a port. */
const answering = async (port: number, path = '/'): Promise<number | undefined> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(path === '/' ? 1_000 : 10_000),
    });
    return Number(await response.text());
  } catch {
    return undefined;
  }
};

const isUp = (port: number) => until(`something answers on ${port}`, () => answering(port));

const isUpOtherThan = (port: number, former: number) =>
  until(
    `something new answers on ${port}`,
    async () => {
      const pid = await answering(port);
      return pid === former ? undefined : pid;
    },
    25_000,
  );

const isGone = (pid: number) => until(`${pid} has ended`, () => readProcess(pid) === undefined);

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
  { how: 'is stopped', hang: (pid: number) => void process.kill(pid, 'SIGSTOP'), state: 'stopped' },
  {
    how: 'is stopped and stubborn',
    manner: 'stubborn',
    hang: (pid: number) => void process.kill(pid, 'SIGSTOP'),
    state: 'stopped',
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

test('does not take its own standing still for that of its children', async () => {
  const { child, start, stateFile } = givenSupervisor();
  const supervisor = await start(child('web', ports.web));
  const web = await isUp(ports.web);
  // Both, as when the machine sleeps, for longer than any patience; the child comes back a moment later.
  supervisor.signal('SIGSTOP');
  process.kill(web, 'SIGSTOP');
  await sleep(8_000);
  supervisor.signal('SIGCONT');
  await sleep(1_500);
  process.kill(web, 'SIGCONT');
  await isUp(ports.web);
  await sleep(3_000);
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
