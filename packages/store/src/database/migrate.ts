import { ConfigError } from '@sallyport/deployment/config';
import { type Kysely, sql } from 'kysely';
import * as routes from './migrations/0001-routes.ts';
import * as accounts from './migrations/0002-accounts.ts';
import * as audit from './migrations/0003-audit.ts';
import * as security from './migrations/0010-security.ts';
import * as responseInspection from './migrations/0011-response-inspection.ts';
import * as blockSearch from './migrations/0012-block-search.ts';
import * as routeNotices from './migrations/0013-route-notices.ts';
import * as specialHosts from './migrations/0014-special-hosts.ts';
import * as reservedOrigins from './migrations/0020-reserved-origins.ts';
import * as firewallSetup from './migrations/0022-firewall-setup.ts';
import * as idempotency from './migrations/0030-idempotency.ts';
import * as history from './migrations/0040-history.ts';
import * as confirmations from './migrations/0041-confirmations.ts';
import * as emergencyDrills from './migrations/0042-emergency-drills.ts';
import * as presetEvents from './migrations/0045-preset-events.ts';
import * as consoleEnrollments from './migrations/0046-console-enrollments.ts';
import * as backupSchedule from './migrations/0050-backup-schedule.ts';
import * as restores from './migrations/0055-restores.ts';
import * as importSessions from './migrations/0060-import-sessions.ts';
import * as acme from './migrations/0070-acme.ts';
import * as blockColumns from './migrations/0071-block-columns.ts';
import * as revokedCertificates from './migrations/0072-revoked-certificates.ts';
import * as revocations from './migrations/0073-revocations.ts';
import type { Database, Executor } from './open.ts';
import type { Tables } from './tables.ts';

/** One step forward. There is no way back: a backup is. */
export interface Migration {
  up(db: Kysely<Tables>, kind: Database['kind']): Promise<void>;
}

/** In order; a released one never changes. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-routes': routes,
  '0002-accounts': accounts,
  '0003-audit': audit,
  '0010-security': security,
  '0011-response-inspection': responseInspection,
  '0012-block-search': blockSearch,
  '0013-route-notices': routeNotices,
  '0014-special-hosts': specialHosts,
  '0020-reserved-origins': reservedOrigins,
  '0022-firewall-setup': firewallSetup,
  '0030-idempotency': idempotency,
  '0040-history': history,
  '0041-confirmations': confirmations,
  '0042-emergency-drills': emergencyDrills,
  '0045-preset-events': presetEvents,
  '0046-console-enrollments': consoleEnrollments,
  '0050-backup-schedule': backupSchedule,
  '0055-restores': restores,
  '0060-import-sessions': importSessions,
  '0070-acme': acme,
  '0071-block-columns': blockColumns,
  '0072-revoked-certificates': revokedCertificates,
  '0073-revocations': revocations,
};

/** All steps that this version knows, in order. */
export const MIGRATION_NAMES: readonly string[] = Object.keys(MIGRATIONS);

/** Any number will do, as long as nothing else in the database takes it. */
const ADVISORY_LOCK = 7_255_097;

interface MigrationTables {
  schema_migrations: { name: string; applied_at: string };
}

/** Sees that there is a database that answers. Throws a `ConfigError` that says why not: no fault of this program. */
const reach = async ({ kysely }: Pick<Database, 'kysely'>): Promise<void> => {
  await sql`select 1`.execute(kysely).catch((error: Error) => {
    throw new ConfigError([`the store can not be used: ${error.message}`]);
  });
};

/** The steps of the store that are still to take. Throws a `ConfigError` for a store with steps that we don't know. */
const pendingIn = async (db: Kysely<MigrationTables>): Promise<[string, Migration][]> => {
  const rows = await db.selectFrom('schema_migrations').select('name').orderBy('name').execute();
  const unknown = rows.map(({ name }) => name).filter((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown.length > 0) {
    throw new ConfigError([
      `the store was made by a newer version (it has ${unknown.join(', ')}); run that version, or restore a backup`,
    ]);
  }
  const done = new Set(rows.map(({ name }) => name));
  return Object.entries(MIGRATIONS).filter(([name]) => !done.has(name));
};

/** The steps that a store has taken: its level. */
export const migrationsOf = async (db: Executor): Promise<string[]> => {
  const taken = db as unknown as Kysely<MigrationTables>;
  return (await taken.selectFrom('schema_migrations').select('name').orderBy('name').execute()).map(({ name }) => name);
};

/**
 * Brings the schema up to date, in one transaction and under a lock, so that processes that start together don't
 * collide. `steps` are the ones to take, for a store that shall stay behind; all unless they are given. Returns the names
 * of the steps it took; an empty list means that there was nothing to do. Throws a `ConfigError` for the store of a newer
 * version, and for one that can't be opened or reached.
 */
export const migrate = async (
  { kysely, kind, unhurried }: Pick<Database, 'kysely' | 'kind' | 'unhurried'>,
  steps: readonly string[] = MIGRATION_NAMES,
): Promise<string[]> => {
  await reach({ kysely });
  const db = kysely as unknown as Kysely<MigrationTables>;
  const createTable = sql`create table if not exists schema_migrations (name text primary key, applied_at text not null)`;
  if (kind === 'sqlite') await createTable.execute(db);
  return unhurried(() =>
    db.transaction().execute(async (tx) => {
      if (kind === 'postgres') {
        // IF NOT EXISTS is not atomic there: of two that create at once one fails. So the lock comes before the table.
        await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(tx);
        await createTable.execute(tx);
      } else {
        // A write that changes nothing takes SQLite's lock before the first read.
        await sql`delete from schema_migrations where name = ''`.execute(tx);
      }
      const pending = (await pendingIn(tx)).filter(([name]) => steps.includes(name));
      for (const [name, migration] of pending) {
        await migration.up(tx as unknown as Kysely<Tables>, kind);
        await tx.insertInto('schema_migrations').values({ name, applied_at: new Date().toISOString() }).execute();
      }
      return pending.map(([name]) => name);
    }),
  );
};

/** Names of the steps that `migrate` would take; rejects when the store can't be read at all. */
export const pendingMigrations = async ({ kysely, kind }: Pick<Database, 'kysely' | 'kind'>): Promise<string[]> => {
  await reach({ kysely });
  const db = kysely as unknown as Kysely<MigrationTables>;
  const found =
    kind === 'sqlite'
      ? await sql`select 1 from sqlite_master where name = 'schema_migrations'`.execute(db)
      : await sql`select 1 where to_regclass('schema_migrations') is not null`.execute(db);
  if (found.rows.length === 0) return Object.keys(MIGRATIONS);
  return (await pendingIn(db)).map(([name]) => name);
};
