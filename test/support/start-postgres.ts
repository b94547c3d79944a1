import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePorts } from './free-ports.ts';
import { memoryDirectory } from './in-memory.ts';

/** A real PostgreSQL on a private port and directory. */
export interface Postgres {
  /** URL of its maintenance database. */
  url: string;
  /** Where everything of it lies. */
  directory: string;
  /** Ends it at once, as a crash does; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again after `kill`; resolves when it takes connections. */
  restart(): Promise<void>;
  /** Stops all its processes where they are, as a machine that is out of memory or a cable that is cut does. */
  suspend(): void;
  /** Lets them go on. */
  resume(): void;
  /** Ends it and removes its directory. */
  stop(): Promise<void>;
}

/** Debian keeps every major version in a directory of its own; 12 has 15. */
const findBinaries = (): string => {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(root, version, 'bin')).find((path) => existsSync(join(path, 'initdb')));
  if (!found) throw new Error('PostgreSQL is missing; bin/test installs it');
  return found;
};

/**
 * Where a cluster lies: in memory where there is room. Making and dropping a database is making and removing 300 files, which took a sixth of
 * all processor time of a run on ext4 (it looks for inodes that nobody removed in the last seconds).
 */
const findPlace = (): string => memoryDirectory() ?? tmpdir();

const idOf = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());

/** Ends a PostgreSQL and removes its directory once whoever holds the other end of its input is gone. */
const WATCH = `while read -r line; do :; done
[ -f "$1/data/postmaster.pid" ] && kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"
while [ -f "$1/data/postmaster.pid" ] && kill -0 "$(head -n 1 "$1/data/postmaster.pid")"; do sleep 0.1; done
rm -rf "$1"`;

/**
 * A test run that is killed ends nothing of its own, and PostgreSQL would go on for ever. The kernel closes the pipe, however
 * we end. A process group of its own keeps what Ctrl-C sends to ours from it.
 */
const watchOver = (directory: string): ChildProcess => {
  const watch = spawn('sh', ['-c', WATCH, 'watch', directory], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watch.unref();
  (watch.stdin as Socket).unref();
  return watch;
};

const answers = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
};

/** Makes a new cluster and starts it; resolves when it takes connections. */
export const startPostgres = async (): Promise<Postgres> => {
  const binaries = findBinaries();
  const directory = mkdtempSync(join(findPlace(), 'sallyport-pg-'));
  // initdb refuses to run as root.
  const account = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if ('uid' in account) chownSync(directory, account.uid ?? 0, account.gid ?? 0);
  const data = join(directory, 'data');
  const watch = watchOver(directory);
  const options = ['-D', data, '-U', 'sallyport', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  execFileSync(join(binaries, 'initdb'), options, { ...account, stdio: 'pipe', cwd: directory });
  const [port = 0] = await freePorts(1);
  const url = `postgres://sallyport@127.0.0.1:${port}/postgres`;
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${directory}`,
    'max_connections=300',
    // It may be killed, but the machine does not lose power: pages are never half written. A database is made by half the work.
    'fsync=off',
    'full_page_writes=off',
    // Databases live for a second.
    'autovacuum=off',
  ];
  const argv = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];

  const run = async () => {
    const server = spawn(join(binaries, 'postgres'), argv, { ...account, stdio: 'ignore', cwd: directory });
    while (!(await answers(url))) {
      if (server.exitCode !== null || server.signalCode !== null) return undefined;
      await delay(50);
    }
    return server;
  };
  const first = await run();
  if (!first) throw new Error('PostgreSQL did not start');
  let server = first;

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };

  /** Its own process and one for each connection. */
  const signalAll = (signal: NodeJS.Signals): void => {
    const own = Number(server.pid);
    const children = readFileSync(`/proc/${own}/task/${own}/children`, 'utf8').trim().split(' ').map(Number);
    for (const pid of [own, ...children]) process.kill(pid, signal);
  };

  return {
    url,
    directory,
    suspend: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    kill: () => end('SIGKILL'),
    async restart() {
      let next = await run();
      // It refuses to start as long as a process of its predecessor is still on its way out.
      while (!next) next = await run();
      server = next;
    },
    async stop() {
      // Fast shutdown: open connections are cut.
      if (server.exitCode === null && server.signalCode === null) await end('SIGINT');
      const watched = once(watch, 'exit');
      watch.stdin?.end();
      await watched;
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
