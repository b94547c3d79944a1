import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { ArchiveError } from '@sallyport/backup/format/archive-error';
import type { Archive } from '@sallyport/backup/format/open-archive';
import { backUpBeforeMigration } from '@sallyport/backup/shelf/before-migration';
import { makeBackup } from '@sallyport/backup/shelf/make-backup';
import { isBackupName } from '@sallyport/backup/shelf/names';
import { openVerified } from '@sallyport/backup/shelf/open-backup';
import { putFiles } from '@sallyport/backup/shelf/put-files';
import { createShelf } from '@sallyport/backup/shelf/shelf';
import { createShelving } from '@sallyport/backup/shelf/shelve';
import { storedPassphrase } from '@sallyport/backup/shelf/stored-passphrase';
import type { Config } from '@sallyport/deployment/config';
import { prepareDataDir } from '@sallyport/deployment/data-dir';
import { systemActor } from '@sallyport/store/actor';
import { type Audit, createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { MIGRATION_NAMES, migrate, pendingMigrations } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import { type Differences, revisionOf } from '@sallyport/store/snapshot/compare';
import { isUnused } from '@sallyport/store/snapshot/put-back';
import { withPrepared } from '@sallyport/store/snapshot/restore';
import { Command } from 'commander';
import { checkStored } from '../check-stored.ts';
import { CommandFailure } from '../failure.ts';
import { loadConfig } from '../load-config.ts';
import { refuseWhileInUse } from '../not-in-use.ts';
import { print, printTable } from '../print.ts';
import { readPassphrase } from '../read-password.ts';
import { deploymentPassphrase } from '../stored-passphrase.ts';

const clock = () => new Date();

const openWhole = async (config: Config, path: string, passphrase: string | undefined): Promise<Archive> => {
  try {
    return await openVerified(path, passphrase, () => deploymentPassphrase(config));
  } catch (error) {
    throw error instanceof ArchiveError ? new CommandFailure(error.message) : error;
  }
};

const printDifferences = (differences: Differences): void => {
  const rows = Object.entries(differences).map(([kind, { added, changed, removed }]) => [
    kind,
    ...[added, changed, removed].map(String),
  ]);
  if (rows.length === 0) print('nothing differs from what is there');
  else printTable(['', 'added', 'changed', 'removed'], rows);
};

interface Target {
  config: Config;
  database: Database;
  audit: Audit;
}

const backUp = async ({ config, database, audit }: Target): Promise<void> => {
  const shelf = createShelf(config.dataDir);
  const { transactAside } = database;
  const passphrase = await storedPassphrase(database.kysely, config);
  const about = { kind: 'automatic', reason: 'before-restore', passphrase } as const;
  const made = await makeBackup({ config, shelf, at: clock(), ...about });
  const { name } = await createShelving({ shelf, transactAside, record: audit.record, clock }).add({
    ...made,
    kind: 'automatic',
    isVerified: true,
    action: 'backup.create',
    actor: systemActor('automatic backup'),
  });
  print(`what was there is in ${name}`);
};

const restoreInto = async (target: Target & Parameters<typeof withPrepared>[0], archive: Archive, isDry: boolean) => {
  const { database, audit, config } = target;
  const { manifest, tables, key } = archive;
  const prepare = {
    snapshot: { migrations: manifest.migrations, tables },
    check: (_staged: unknown, directory: string) => checkStored(config, directory),
    ...(key === undefined ? {} : { foreignKey: key }),
  };
  await withPrepared(target, prepare, async (prepared) => {
    const changes = await prepared.differences();
    printDifferences(changes);
    if (isDry) return;
    if (!(await isUnused(database.kysely))) await backUp(target);
    const actor = systemActor(`cli ${userInfo().username}`);
    const entry = { action: 'backup.restore', actor, resource: 'backups', after: { changes } };
    const isDone = await prepared.putBack(await revisionOf(database.kysely), (tx) => audit.record(tx, entry));
    if (!isDone) throw new CommandFailure('the store was changed meanwhile; nothing was restored');
    for (const name of await putFiles(archive, config.dataDir)) print(`${name} put back`);
    print('restored; now start Sallyport');
  });
};

/** Brings the store up to this version, as `sallyport migrate` does. */
const bringUp = async (database: Database, config: Config, isDry: boolean): Promise<void> => {
  const pending = await pendingMigrations(database);
  if (isDry && pending.length > 0 && pending.length < MIGRATION_NAMES.length) {
    throw new CommandFailure(
      'the store is older than this version, and is left as it is; run "sallyport migrate" first',
    );
  }
  const backup = await backUpBeforeMigration(database, config);
  if (backup) print(`made the backup ${backup}`);
  await migrate(database);
};

/** `sallyport backup restore …` */
export const restoreCommand = (): Command =>
  new Command('restore')
    .description(
      'put what is configured back to what a backup holds; the service must be stopped. A new store takes all of it',
    )
    .argument('<backup>', 'name that "backup list" shows, or path of a file')
    .option(
      '--passphrase-file <path>',
      'passphrase of an encrypted one, unless it is backup.passphrase; read from a file, or asked for with -',
    )
    .option('--dry-run', 'check all of it and tell what would change')
    .action(async (named: string, options: { passphraseFile?: string; dryRun?: boolean }, command: Command) => {
      const config = loadConfig(command);
      process.umask(0o077);
      const path = isBackupName(named) ? createShelf(config.dataDir).pathOf(named) : named;
      if (!existsSync(path)) throw new CommandFailure(`there is no file ${path}`);
      const archive = await openWhole(config, path, await readPassphrase(options.passphraseFile));
      try {
        prepareDataDir(config.dataDir);
        const database = openDatabase(config);
        try {
          await refuseWhileInUse({ config, database });
          await bringUp(database, config, options.dryRun === true);
          const vault = await openStoreVault(database, config);
          const { kysely: db, transactAside } = database;
          const audit = createAudit({ db, transactAside, store: auditStore, vault, clock });
          const target = { config, database, audit, vault, dataDir: config.dataDir, clock };
          await restoreInto(target, archive, options.dryRun === true);
        } finally {
          await database.stop();
        }
      } finally {
        await archive.close();
      }
    });
