import { migrate } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';

/** Gives work the store of these settings with all tables, and closes it afterwards. For both databases: within `emptyStore`. */
export const withTables = async (
  config: Parameters<typeof openDatabase>[0],
  work: (database: Database) => Promise<void>,
): Promise<void> => {
  const database = openDatabase(config);
  try {
    await migrate(database);
    await work(database);
  } finally {
    await database.stop();
  }
};

/** Gives work a store in SQLite with all tables and nothing in them, and the directory it lies in; removes both afterwards. No server runs. */
export const withStore = (work: (database: Database, dataDir: string) => Promise<void>): Promise<void> =>
  withTemporaryDirectory((dataDir) =>
    withTables({ dataDir, databaseUrl: undefined }, (database) => work(database, dataDir)),
  );
