import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listChildren, listProcesses, type ProcessInfo, readEnvironment } from '@sallyport/deployment/processes';
import { readState } from '@sallyport/deployment/supervisor-state';
import { bareEnvironment } from './bare-environment.ts';
import { until } from './until.ts';

/** What can be killed. */
export const victims = ['supervisor', 'haproxy master', 'haproxy worker', 'server', 'guard'] as const;
export type Victim = (typeof victims)[number];

export interface ProductPorts {
  api: number;
  http: number;
  https: number;
}

/** The whole product as an operator runs it, on a data directory of its own. */
export interface Product {
  api: string;
  ports: ProductPorts;
  dataDir: string;
  pids(): Record<Victim, number>;
  /** Kills processes of the product, all at the same moment. */
  kill(...targets: readonly Victim[]): void;
  /** Starts the supervisor; resolves when it says that everything is ready. */
  start(): Promise<void>;
  /** Asks the supervisor to stop everything, by a signal; resolves with its exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
  /** Kills every process of the product, as when the power fails; resolves when none is left. */
  cutPower(): Promise<void>;
  /** Living processes of this product. */
  processes(): number[];
  log(): string;
  /** Ends whatever is left and removes the data directory. */
  remove(): Promise<void>;
}

const supervisorMain = fileURLToPath(new URL('../../apps/supervisor/src/main.ts', import.meta.url));

const killIfThere = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // A HAProxy worker ends with its master.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** `databaseUrl`: the store; without it the product uses SQLite in its data directory. `settings`: more of the environment. */
export const createProduct = (
  ports: ProductPorts,
  databaseUrl?: string,
  settings: Readonly<Record<string, string>> = {},
): Product => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-chaos-'));
  const dataDir = join(dir, 'data');
  const logFile = join(dir, 'log');
  const env = {
    ...bareEnvironment,
    ...(process.env.MALLOC_ARENA_MAX && { MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX }),
    SALLYPORT_DATA_DIR: dataDir,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    SALLYPORT_HTTP_BIND: `127.0.0.1:${ports.api}`,
    SALLYPORT_PROXY_HTTP: `127.0.0.1:${ports.http}`,
    SALLYPORT_PROXY_HTTPS: `127.0.0.1:${ports.https}`,
    ...settings,
  };
  let supervisor: ReturnType<typeof spawn> | undefined;
  let exited: Promise<number | null> = Promise.resolve(null);

  const log = () => readFileSync(logFile, 'utf8');
  // Server and emergency listener are told where their data is by their environment alone.
  const isOurs = ({ pid, argv }: ProcessInfo) =>
    argv.some((argument) => argument.startsWith(dataDir)) ||
    readEnvironment(pid)?.get('SALLYPORT_DATA_DIR') === dataDir;

  const pids = () => {
    const children = readState(join(dataDir, 'supervisor.json'))?.children ?? [];
    const pidOf = (name: string) => children.find((child) => child.name === name)?.pid ?? 0;
    const master = pidOf('haproxy');
    const worker = master === 0 ? 0 : (listChildren(master)[0]?.pid ?? 0);
    return {
      supervisor: supervisor?.pid ?? 0,
      'haproxy master': master,
      'haproxy worker': worker,
      server: pidOf('server'),
      // One of several; the others go on judging.
      guard: pidOf('guard-0'),
    };
  };

  const processes = () =>
    listProcesses()
      .filter(isOurs)
      .map(({ pid }) => pid);

  const cutPower = async (): Promise<void> => {
    supervisor?.kill('SIGKILL');
    // Whoever is being started right now is met by the next look.
    await until('nothing of it is left', () => {
      const left = processes();
      for (const pid of left) killIfThere(pid);
      return left.length === 0;
    });
    await exited;
  };

  return {
    api: `http://127.0.0.1:${ports.api}/api/v1`,
    ports,
    dataDir,
    pids,
    kill(...targets) {
      const now = pids();
      for (const target of targets) {
        if (now[target] === 0) throw new Error(`no ${target} to kill`);
        process.kill(now[target], 'SIGKILL');
      }
    },
    async start() {
      // A file, not a pipe: the server's output must not depend on this process or the supervisor.
      const output = openSync(logFile, 'a');
      const before = log().length;
      const child = spawn(process.execPath, ['--max-semi-space-size=1', supervisorMain], {
        env,
        stdio: ['ignore', output, output],
        cwd: dir,
      });
      closeSync(output);
      supervisor = child;
      exited = new Promise((resolve) => child.once('exit', resolve));
      await until(
        'the supervisor says that it is ready',
        () => {
          if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the supervisor ended:\n${log()}`);
          return log().slice(before).includes('\nReady after ');
        },
        90_000,
      );
    },
    async stop(signal) {
      supervisor?.kill(signal);
      return exited;
    },
    processes,
    log,
    cutPower,
    async remove() {
      await cutPower();
      rmSync(dir, { recursive: true });
    },
  };
};
