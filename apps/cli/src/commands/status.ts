import { pendingMigrations } from '@sallyport/server/db/migrate';
import { formatAddress } from '@sallyport/server/net/listen';
import { Command } from 'commander';
import { loadConfig, openStore } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { print } from '../print.ts';

const ANSWER_TIMEOUT_MS = 3_000;
/** As init scripts have it: the program is not running. */
const NOT_RUNNING = 3;

const isAnswering = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(`${url}/api/v1/health`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return response.ok;
  } catch {
    return false;
  }
};

/** `sallyport status`: exit code 0 when the API answers, 3 when not. */
export const statusCommand = (): Command =>
  new Command('status')
    .description('tell what runs and what the store holds')
    .action(async (_options: object, command: Command) => {
      const config = loadConfig(command);
      const database = openStore(config);
      try {
        print(`store: ${config.databaseUrl === undefined ? `SQLite in ${config.dataDir}` : 'PostgreSQL'}`);
        const pending = await pendingMigrations(database);
        print(
          `schema: ${pending.length === 0 ? 'up to date' : `${pending.length} steps behind, see "sallyport migrate"`}`,
        );
        if (pending.length === 0) {
          const count = async (table: 'users' | 'proxy_hosts') => {
            const row = await database.kysely
              .selectFrom(table)
              .select((query) => query.fn.countAll().as('count'))
              .executeTakeFirstOrThrow();
            return Number(row.count);
          };
          print(`users: ${await count('users')}`);
          print(`proxy hosts: ${await count('proxy_hosts')}`);
        }
      } finally {
        await database.stop();
      }
      const { host, port } = config.httpBind;
      const isWildcard = host === '' || host === '::' || host === '0.0.0.0';
      const url = `http://${formatAddress(isWildcard ? 'localhost' : host, port)}`;
      if (!(await isAnswering(url))) throw new CommandFailure(`server: not answering at ${url}`, NOT_RUNNING);
      print(`server: answering at ${url}`);
    });
