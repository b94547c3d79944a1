import { execFile } from 'node:child_process';
import { randomUUID, X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Config } from '@sallyport/deployment/config';
import { emptyStore, onBothDatabases, startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { MIGRATION_NAMES, migrate, pendingMigrations } from './migrate.ts';
import { openDatabase } from './open.ts';

const MIGRATE = `
  import { migrate } from ${JSON.stringify(new URL('./migrate.ts', import.meta.url).href)};
  import { openDatabase } from ${JSON.stringify(new URL('./open.ts', import.meta.url).href)};
  const database = openDatabase(JSON.parse(process.env.CONFIG));
  process.stdout.write(JSON.stringify(await migrate(database)));
  await database.stop();
`;

const migrateInProcess = async ({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<string> => {
  const env = { ...process.env, CONFIG: JSON.stringify({ dataDir, databaseUrl }) };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', MIGRATE], {
    env,
  });
  return stdout;
};

onBothDatabases('migrations', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterAll(() => app.stop());

  test('have nothing to do the second time', async () => {
    const database = openDatabase(app.config);
    expect(await migrate(database)).toEqual([]);
    await database.stop();
  });

  test('are told before they are taken, every one that there is, and nothing is made by asking', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      const steps = readdirSync(new URL('./migrations', import.meta.url)).map((name) => name.replace('.ts', ''));
      expect(await pendingMigrations(database)).toEqual(steps.toSorted());
      expect(await pendingMigrations(database)).toEqual(steps.toSorted());
      expect(await migrate(database)).toEqual(steps.toSorted());
      expect(await pendingMigrations(database)).toEqual([]);
      await sql`delete from schema_migrations where name = ${steps.at(-1)}`.execute(database.kysely);
      expect(await pendingMigrations(database)).toEqual([steps.at(-1)]);
      await database.stop();
    });
  });

  test('bring what refusals are counted by out of the entries that hold it, whatever moment they tell', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      const step = MIGRATION_NAMES.indexOf('0071-block-columns');
      await migrate(database, MIGRATION_NAMES.slice(0, step));
      const moments = {
        '2026-11-20T12:00:00.123Z': Date.UTC(2026, 10, 20, 12, 0, 0, 123),
        '2026-11-20T12:00:00+02:00': Date.UTC(2026, 10, 20, 10),
        '2026-02-30T23:59:59Z': Date.UTC(2026, 2, 2, 23, 59, 59),
        '0000-00-00T00:00:00Z': 0,
        'no moment at all': 0,
      };
      for (const [index, timestamp] of Object.keys(moments).entries()) {
        const entry = JSON.stringify({
          timestamp,
          monitored: index > 0,
          rule_id: index === 1 ? 942100 : null,
          reason: '\0\ud800',
        });
        await sql`insert into security_blocks (reference, entry, ip) values (${timestamp}, ${entry}, '192.0.2.1')`.execute(
          database.kysely,
        );
      }
      const damaged = ['', '{"timestamp":', 'null', '[]', '{"timestamp": "2026-11-20T12:00:00Z"} {}'];
      for (const [index, entry] of damaged.entries()) {
        await sql`insert into security_blocks (reference, entry, ip) values (${`damaged ${index}`}, ${entry}, '')`.execute(
          database.kysely,
        );
      }
      await migrate(database);
      const rows = await database.kysely.selectFrom('security_blocks').selectAll().orderBy('id').execute();
      expect(rows.map((row) => ({ ...row, at_ms: Number(row.at_ms) }))).toMatchObject(
        Object.values(moments).map((at_ms, index) => ({
          ...{ at_ms, ip: '192.0.2.1', country: '' },
          monitored: Number(index > 0),
          rule_id: index === 1 ? 942100 : null,
        })),
      );
      await database.stop();
    });
  });

  test('know by their fingerprints which certificates were revoked, and pass over damaged ones', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      await migrate(database, MIGRATION_NAMES.slice(0, MIGRATION_NAMES.indexOf('0073-revocations')));
      const { certificate } = makeCertificate(['revoked.test']);
      const moment = '2026-11-20T12:00:00.000Z';
      for (const [index, chain] of [certificate, 'damaged'].entries()) {
        await sql`insert into certificates (uuid, name, provider, domains, chain_pem, key_sealed, not_before, expires_at, created_at, revoked_at)
          values (${randomUUID()}, ${`${index}`}, 'custom', 'revoked.test', ${chain}, '', ${moment}, ${moment}, ${moment}, ${moment})`.execute(
          database.kysely,
        );
      }
      await migrate(database);
      const rows = await database.kysely.selectFrom('revoked_certificates').selectAll().execute();
      const { fingerprint256: fingerprint } = new X509Certificate(certificate);
      expect(rows).toEqual([{ fingerprint, revoked_at: moment, expires_at: moment }]);
      await database.stop();
    });
  });

  test('run once when several processes start on an empty store', async () => {
    await emptyStore(kind, async (config) => {
      const outputs = await Promise.all(Array.from({ length: 4 }, () => migrateInProcess(config)));
      const steps = outputs.map((output) => JSON.parse(output) as string[]);
      expect(steps.filter((taken) => taken.length > 0)).toHaveLength(1);
      expect(steps.flat()).toContain('0001-routes');
    });
  });

  test('leave the store of a newer version alone', async () => {
    await emptyStore(kind, async (config) => {
      const database = openDatabase(config);
      await migrate(database);
      await sql`insert into schema_migrations (name, applied_at) values ('9999-later', '2026-01-01')`.execute(
        database.kysely,
      );
      await expect(migrate(database)).rejects.toThrow(/newer version \(it has 9999-later\)/);
      await expect(pendingMigrations(database)).rejects.toThrow(/newer version/);
      await database.stop();
    });
  });

  test('the revision counts every change, also of transactions that run at once', async () => {
    const database = openDatabase(app.config);
    const revisions = await Promise.all(
      Array.from({ length: 20 }, () => database.transact(async (_tx, revision) => Number(revision))),
    );
    const sorted = revisions.sort((a, b) => a - b);
    expect(new Set(sorted).size).toBe(20);
    await expect(database.transact(() => Promise.reject(new Error('undone')))).rejects.toThrow('undone');
    const next = await database.transact(async (_tx, revision) => Number(revision));
    expect(next).toBe((sorted.at(-1) ?? 0) + 1);
    await database.stop();
  });
});
