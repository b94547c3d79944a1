import { migrate } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';

/** Gives work a store in SQLite with all tables and nothing in them, and the directory it lies in; removes both afterwards. No server runs. */
export const withStore = (work: (database: Database, dataDir: string) => Promise<void>): Promise<void> =>
  withTemporaryDirectory(async (dataDir) => {
    const database = openDatabase({ dataDir, databaseUrl: undefined });
    try {
      await migrate(database);
      await work(database, dataDir);
    } finally {
      await database.stop();
    }
  });
