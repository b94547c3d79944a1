import type { TestProject } from 'vitest/node';
import { startPostgres } from './start-postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the maintenance database of a PostgreSQL that lives as long as the test run. */
    postgresUrl: string;
  }
}

/** Starts a PostgreSQL for the whole test run and removes it afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  project.provide('postgresUrl', postgres.url);
  return postgres.stop;
}
