import { join } from 'node:path';
import type { Config } from '@sallyport/deployment/config';
import { localAddress } from '@sallyport/deployment/listen';
import { isStillRunning } from '@sallyport/deployment/processes';
import { readState } from '@sallyport/deployment/supervisor-state';
import { pendingMigrations } from '@sallyport/store/database/migrate';
import { Command } from 'commander';
import { openStore } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { locate } from '../instances.ts';
import { print } from '../print.ts';

const ANSWER_TIMEOUT_MS = 3_000;
/** As init scripts have it: the program is not running. */
const NOT_RUNNING = 3;

/** What the API says of itself and the proxy; undefined when it does not answer. */
const readHealth = async (url: string): Promise<{ proxy?: string } | undefined> => {
  try {
    const response = await fetch(`${url}/api/v1/health`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return response.ok ? ((await response.json()) as { proxy?: string }) : undefined;
  } catch {
    return undefined;
  }
};

const printStore = async (config: Config): Promise<void> => {
  const database = openStore(config);
  try {
    print(`store: ${config.databaseUrl === undefined ? `SQLite in ${config.dataDir}` : 'PostgreSQL'}`);
    const pending = await pendingMigrations(database);
    print(`schema: ${pending.length === 0 ? 'up to date' : `${pending.length} steps behind, see "sallyport migrate"`}`);
    if (pending.length > 0) return;
    const count = async (table: 'users' | 'proxy_hosts') => {
      const row = await database.kysely
        .selectFrom(table)
        .select((query) => query.fn.countAll().as('count'))
        .executeTakeFirstOrThrow();
      return Number(row.count);
    };
    print(`users: ${await count('users')}`);
    print(`proxy hosts: ${await count('proxy_hosts')}`);
  } finally {
    await database.stop();
  }
};

/** The processes as the supervisor wrote them down, and what the kernel knows of them now. */
const printProcesses = (dataDir: string): void => {
  const state = readState(join(dataDir, 'supervisor.json'));
  const names = new Set([...(state?.past ?? []), ...(state?.children ?? [])].map(({ name }) => name));
  for (const name of names) {
    const child = state?.children.find((one) => one.name === name);
    const isRunning = child && isStillRunning({ pid: child.pid, startTime: child.start_time });
    const past = state?.past?.find((one) => one.name === name);
    const restarts = past?.restarts ? `, started again ${past.restarts} ${past.restarts === 1 ? 'time' : 'times'}` : '';
    const last = past?.last_end ? `; at ${past.last_end.at} it ${past.last_end.why}` : '';
    print(`${name}: ${isRunning ? `process ${child.pid}` : 'not running'}${restarts}${last}`);
  }
};

/** `sallyport status`: exit code 0 when store, API and proxy answer, 3 when API or proxy do not, 1 when only the store does not. */
export const statusCommand = (): Command =>
  new Command('status')
    .description('tell what runs, however it was configured, and what its store holds')
    .action(async (_options: object, command: Command) => {
      const { config, pid } = locate(command);
      print(
        pid === undefined
          ? `Sallyport: not running on ${config.dataDir}`
          : `Sallyport: process ${pid}, with its data in ${config.dataDir}`,
      );
      // That the store is away is what one asks about the rest for.
      const fault = await printStore(config).then(
        () => undefined,
        (error: Error) => error,
      );
      if (fault && pid === undefined) throw fault;
      if (fault) print(`store: not answering: ${fault.message}`);
      printProcesses(config.dataDir);
      const url = `http://${localAddress(config.httpBind)}`;
      const health = await readHealth(url);
      if (!health) throw new CommandFailure(`server: not answering at ${url}`, NOT_RUNNING);
      print(`server: answering at ${url}`);
      // Where none was started there is none to answer: a server alone, as in a test.
      if (health.proxy === 'down' && pid !== undefined) throw new CommandFailure('proxy: not answering', NOT_RUNNING);
      if (health.proxy === 'up') print('proxy: answering');
      if (fault) throw fault;
    });
