import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { freePorts } from './free-ports.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the maintenance database of a PostgreSQL that lives as long as the test run. */
    postgresUrl: string;
  }
}

/** Debian keeps every major version in a directory of its own; 12 has 15. */
const findBinaries = (): string => {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(root, version, 'bin')).find((path) => existsSync(join(path, 'initdb')));
  if (!found) throw new Error('PostgreSQL is missing; bin/test installs it');
  return found;
};

const idOf = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim());

const waitUntilReady = async (url: string, isAlive: () => boolean): Promise<void> => {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (!isAlive()) throw new Error('PostgreSQL did not start', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
};

/** Starts a real PostgreSQL on a private port and directory for the whole test run and removes it afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const binaries = findBinaries();
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-pg-'));
  // initdb refuses to run as root.
  const account = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if ('uid' in account) chownSync(directory, account.uid ?? 0, account.gid ?? 0);
  const data = join(directory, 'data');
  const options = ['-D', data, '-U', 'sallyport', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  execFileSync(join(binaries, 'initdb'), options, { ...account, stdio: 'pipe', cwd: directory });
  const [port = 0] = await freePorts(1);
  const settings = ['-c', 'fsync=off', '-c', 'max_connections=300', '-c', `unix_socket_directories=${directory}`];
  const server = spawn(
    join(binaries, 'postgres'),
    ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', ...settings],
    { ...account, stdio: 'ignore', cwd: directory },
  );
  const url = `postgres://sallyport@127.0.0.1:${port}/postgres`;
  await waitUntilReady(url, () => server.exitCode === null);
  project.provide('postgresUrl', url);
  return async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    // Fast shutdown: open connections are cut.
    server.kill('SIGINT');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
}
