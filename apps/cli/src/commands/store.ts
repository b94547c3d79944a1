import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { prepareDataDir } from '@sallyport/deployment/data-dir';
import { isSameDirectory } from '@sallyport/deployment/instances';
import { createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { migrate } from '@sallyport/store/database/migrate';
import { type Database, type DatabaseOptions, openDatabase } from '@sallyport/store/database/open';
import { copyTables, isUnused } from '@sallyport/store/snapshot/put-back';
import { inSnapshot } from '@sallyport/store/snapshot/read-tables';
import { Command } from 'commander';
import { type Deployment, withDeployment } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { refuseWhileInUse } from '../not-in-use.ts';
import { print } from '../print.ts';

type Target = Required<Pick<DatabaseOptions, 'dataDir'>> & { databaseUrl: string | undefined };

/** `postgres://…`, or `sqlite:DIRECTORY`. */
const parseTarget = (text: string, { config }: Pick<Deployment, 'config'>): Target => {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return { dataDir: config.dataDir, databaseUrl: text };
  const [, directory] = /^sqlite:(.+)$/.exec(text) ?? [];
  if (directory === undefined) throw new CommandFailure('the target must be postgres://… or sqlite:DIRECTORY');
  return { dataDir: resolve(directory), databaseUrl: undefined };
};

/** PostgreSQL's URLs have room for a password in two places. */
const showsPassword = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && (url.password !== '' || url.searchParams.has('password'));
};

const readTarget = ({ to, toFile }: { to?: string; toFile?: string }): string => {
  if ((to === undefined) === (toFile === undefined)) throw new CommandFailure('name the target: --to or --to-file');
  // 0: standard input, which as a socket can't be opened by its name.
  if (toFile !== undefined) return readFileSync(toFile === '-' ? 0 : toFile, 'utf8').trim();
  // What stands in the argument list, every user of the machine can read.
  if (to !== undefined && showsPassword(to)) {
    throw new CommandFailure('--to would show the password to other users; write the URL to a file: --to-file');
  }
  return to as string;
};

const sameStore = ({ config, database }: Deployment, target: Target): boolean =>
  target.databaseUrl === undefined
    ? database.kind === 'sqlite' && isSameDirectory(config.dataDir, target.dataDir)
    : target.databaseUrl === config.databaseUrl;

const copyInto = async (deployment: Deployment, target: Database): Promise<number> => {
  const { config, vault, actor } = deployment;
  const { kysely: db, transactAside, kind } = target;
  if (!(await isUnused(db))) throw new CommandFailure('the target is in use; copies go into an empty store only');
  const audit = createAudit({ db, transactAside, store: auditStore, vault, clock: () => new Date() });
  const counts = await target.unhurried(() =>
    target.transact((tx) =>
      inSnapshot(config, async (source, sourceKind) => {
        const copied = await copyTables(tx, kind, { tx: source, kind: sourceKind });
        await audit.record(tx, {
          action: 'store.copy',
          actor,
          resource: 'store',
          after: { from: sourceKind, to: kind },
        });
        return copied;
      }),
    ),
  );
  const report = await audit.verify();
  if (!report.ok) throw new CommandFailure(`the copied audit trail is broken at entry ${report.id}: ${report.reason}`);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
};

const copy = () =>
  new Command('copy')
    .description('copy the whole store into an empty one, of this or the other database; the service must be stopped')
    .option('--to <target>', 'postgres://… without a password, or sqlite:DIRECTORY')
    .option('--to-file <path>', 'read the target from a file (- for standard input)')
    .action((options: { to?: string; toFile?: string }, command: Command) =>
      withDeployment(command, async (deployment) => {
        const target = parseTarget(readTarget(options), deployment);
        if (sameStore(deployment, target)) throw new CommandFailure('that is the store itself');
        await refuseWhileInUse(deployment);
        if (target.databaseUrl === undefined) prepareDataDir(target.dataDir);
        const database = openDatabase(target);
        try {
          await migrate(database);
          const rows = await copyInto(deployment, database);
          print(`${rows} rows copied; the audit trail verifies`);
        } finally {
          await database.stop();
        }
        if (target.databaseUrl !== undefined) print('now set DATABASE_URL to the target and start Sallyport');
        else if (isSameDirectory(target.dataDir, deployment.config.dataDir)) {
          print('now start Sallyport without DATABASE_URL');
        } else if (deployment.config.encryptionKey === undefined && !existsSync(`${target.dataDir}/encryption.key`)) {
          print(
            `now copy ${deployment.config.dataDir}/encryption.key to ${target.dataDir}: the store is sealed with it`,
          );
        }
      }),
    );

/** `sallyport store …` */
export const storeCommand = (): Command =>
  new Command('store').description('where everything is kept').addCommand(copy());
