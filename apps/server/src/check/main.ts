/**
 * Looks whether all that a store holds could have been configured here, as a restore by the API does: run by
 * `sallyport backup restore` with the directory of a SQLite store that is not in use yet, sealed with the key of this deployment.
 * Ends with code 0, or writes what does not fit.
 */
import { parseConfig } from '@sallyport/deployment/config';
import { failureLines } from '@sallyport/deployment/failure-lines';
import { openDatabase } from '@sallyport/store/database/open';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import { checkStoredProtection } from '../features/protection/stored.ts';
import { checkStoredSettings } from '../features/system/stored.ts';
import { checkStoredTraffic } from '../features/traffic/stored.ts';

const check = async (directory: string): Promise<void> => {
  const config = parseConfig(process.env, process.cwd());
  const staged = openDatabase({ dataDir: directory, databaseUrl: undefined });
  try {
    const { kysely: db } = staged;
    await checkStoredSettings(db);
    await checkStoredTraffic(db, await openStoreVault(staged, config));
    await checkStoredProtection(db);
  } finally {
    await staged.stop();
  }
};

const [directory] = process.argv.slice(2);
check(directory ?? '').catch((error: unknown) => {
  for (const line of failureLines(error)) process.stderr.write(`${line}\n`);
  process.exitCode = 1;
});
