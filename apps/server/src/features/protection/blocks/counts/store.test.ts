import { type Database, openDatabase } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothDatabases, startApp, type TestApp } from '../../../../testing/start-app.ts';
import { blockStore } from '../store.ts';
import { countStore } from './store.ts';

const ROWS = 12_000;

onBothDatabases('an address that fills the log', (kind) => {
  let app: TestApp;
  let database: Database;
  beforeAll(async () => {
    app = await startApp(kind);
    database = openDatabase(app.config);
    const numbers = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(ROWS)}) select i from n`;
    await sql`
      insert into security_blocks (reference, entry, layer, host, ip, at_ms, monitored, country)
      select 'r' || i, '{"timestamp":"2026-11-20T12:00:00Z"}', 'waf', 'app.example.com',
        case when i <= 10 then '192.0.2.1' else '198.51.100.7' end, i, case when i % 4 = 0 then 1 else 0 end,
        case when i > 9000 then 'DE' else '' end
      from (${numbers}) as numbers
    `.execute(database.kysely);
  });
  afterAll(async () => {
    await database.stop();
    await app.stop();
  });

  test('is counted in portions, between which others get their turn', async () => {
    const range = { from: 1, to: ROWS + 1, parts: 1 };
    const portions = [];
    for await (const portion of countStore(database.kysely).top('ip', range, 10)) portions.push(portion);
    expect(portions.length).toBeGreaterThan(3);
    expect(portions.flat()).toEqual([
      { key: '192.0.2.1', country: '', count: 8, monitored: 2 },
      { key: '198.51.100.7', country: 'DE', count: 8_992, monitored: 2_998 },
    ]);
  });

  test('the oldest of the newest is found, whatever the limit', async () => {
    const { oldestOf } = blockStore(database.kysely);
    expect(await oldestOf(ROWS)).toBeDefined();
    expect(await oldestOf(ROWS - 1)).toBeDefined();
    expect(await oldestOf(ROWS + 1)).toBeUndefined();
    expect(await oldestOf(0)).toBeUndefined();
  });
});
