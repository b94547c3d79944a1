import { emptyStore } from '@sallyport/server/testing/start-app';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { pendingChanges } from './confirmations.ts';

test('a change looks up what waits in the history, however long that is, by the batch', async () => {
  await emptyStore('sqlite', async (config) => {
    const database = openDatabase(config);
    await migrate(database);
    const { sql: query } = pendingChanges(database.kysely).compile();
    const plan = await sql.raw<{ detail: string }>(`explain query plan ${query}`).execute(database.kysely);
    const steps = plan.rows.map(({ detail }) => detail);
    expect(steps).toContain('SEARCH h USING INDEX history_batch (batch=?)');
    expect(steps.filter((step) => step.startsWith('SCAN'))).toEqual(['SCAN c']);
    await database.stop();
  });
});
