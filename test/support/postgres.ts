import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, parseConfig } from '@sallyport/deployment/config';
import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './start-postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the maintenance database of a PostgreSQL that lives as long as the test run. */
    postgresUrl: string;
    /** A database of it that has all tables and nothing in them, to make others of. */
    postgresTemplate: string;
    /** The file of a SQLite database like that, in projects that have this set-up. */
    sqliteTemplate: string | undefined;
  }
}

const TEMPLATE = 'sallyport_template';

/** Makes all tables once: most tests begin with an empty store, and to copy one takes half as long as to make it. */
const makeTables = async (config: Config): Promise<void> => {
  const database = openDatabase(config);
  await migrate(database);
  await database.stop();
};

const makePostgresTemplate = async (adminUrl: string): Promise<void> => {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const url = new URL(adminUrl);
  url.pathname = `/${TEMPLATE}`;
  await makeTables(parseConfig({ DATABASE_URL: url.href }, '/'));
};

/** Starts a PostgreSQL for the whole test run, and makes a store of either kind to copy; removes all of it afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-template-'));
  await makeTables(parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/'));
  const postgres = await startPostgres();
  await makePostgresTemplate(postgres.url);
  project.provide('postgresUrl', postgres.url);
  project.provide('postgresTemplate', TEMPLATE);
  project.provide('sqliteTemplate', join(dataDir, 'sallyport.db'));
  return async () => {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
