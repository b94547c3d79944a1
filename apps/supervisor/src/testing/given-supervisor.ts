import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readProcess } from '@sallyport/deployment/processes';
import { onTestFinished } from 'vitest';
import { bareEnvironment } from '../../../../test/support/bare-environment.ts';
import { freePorts } from '../../../../test/support/free-ports.ts';
import { until } from '../../../../test/support/until.ts';
import { endStrays } from '../adoption.ts';
import type { RunSupervisor } from './run-supervisor.ts';

const script = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url));

const [web = 0, api = 0, proxy = 0] = await freePorts(3);
export const ports = { web, api, proxy };

interface ChildOptions {
  manner?: 'stubborn';
  setting?: string;
}

/** A directory with children of its own, and a supervisor for them that can be started again and again. */
export const givenSupervisor = () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-sup-'));
  const child = (name: string, port: number, { manner, setting = 'a' }: ChildOptions = {}) => ({
    name,
    argv: [process.execPath, script('tiny-server.ts'), String(port), ...(manner ? [manner] : [])] as const,
    env: { ...bareEnvironment, SALLYPORT_DATA_DIR: dataDir, SALLYPORT_SETTING: setting },
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
export const answering = async (port: number, path = '/'): Promise<number | undefined> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(10_000),
    });
    return Number(await response.text());
  } catch {
    return undefined;
  }
};

export const isUp = (port: number) => until(`something answers on ${port}`, () => answering(port));

export const isUpOtherThan = (port: number, former: number) =>
  until(`something new answers on ${port}`, async () => {
    const pid = await answering(port);
    return pid === former ? undefined : pid;
  });

export const isGone = (pid: number) => until(`${pid} has ended`, () => readProcess(pid) === undefined);
