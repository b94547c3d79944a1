import { backUpBeforeMigration } from '@sallyport/backup/shelf/before-migration';
import { prepareDataDir } from '@sallyport/deployment/data-dir';
import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { Command } from 'commander';
import { loadConfig } from '../load-config.ts';
import { print } from '../print.ts';

/** `sallyport migrate` (spec, Versioning 4). */
export const migrateCommand = (): Command =>
  new Command('migrate')
    .description('bring the store up to this version; adds only, and does nothing when there is nothing to do')
    .action(async (_options: object, command: Command) => {
      const config = loadConfig(command);
      process.umask(0o077);
      prepareDataDir(config.dataDir);
      const database = openDatabase(config);
      try {
        const backup = await backUpBeforeMigration(database, config);
        if (backup) print(`made the backup ${backup}`);
        const steps = await migrate(database);
        for (const step of steps) print(`applied ${step}`);
        print(steps.length === 0 ? 'the store is up to date; nothing was changed' : 'the store is up to date');
      } finally {
        await database.stop();
      }
    });
