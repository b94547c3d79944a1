import { parseConfig } from '@sallyport/deployment/config';
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
  }
}

const TEMPLATE = 'sallyport_template';

/** Makes all tables once: most tests begin with an empty store, and to copy one takes half as long as to make it. */
const makeTemplate = async (adminUrl: string): Promise<void> => {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const url = new URL(adminUrl);
  url.pathname = `/${TEMPLATE}`;
  const database = openDatabase(parseConfig({ DATABASE_URL: url.href }, '/'));
  await migrate(database);
  await database.stop();
};

/** Starts a PostgreSQL for the whole test run and removes it afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  await makeTemplate(postgres.url);
  project.provide('postgresUrl', postgres.url);
  project.provide('postgresTemplate', TEMPLATE);
  return postgres.stop;
}
