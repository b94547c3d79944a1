import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { handOver } from '@sallyport/deployment/data-dir';
import SqliteDatabase from 'better-sqlite3';
import { Kysely, PostgresDialect, SqliteDialect, sql, type Transaction } from 'kysely';
import { createLockQueue } from './lock-queue.ts';
import { createPool } from './pool.ts';
import type { Patience } from './silence.ts';
import type { Tables } from './tables.ts';

/** What stores run their statements on: the database itself or a transaction of it. */
export type Executor = Kysely<Tables> | Transaction<Tables>;

/** Runs `work` in one transaction that has raised the revision; concurrent changes wait for each other. */
export type Transact = <T>(work: (tx: Executor, revision: number) => Promise<T>) => Promise<T>;

/** Runs `work` in one transaction that leaves the revision alone; concurrent ones wait for each other. */
export type TransactAside = <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;

export interface Database {
  kysely: Kysely<Tables>;
  kind: 'sqlite' | 'postgres';
  transact: Transact;
  /** For what the data plane need not see: accounts, sessions, audit. */
  transactAside: TransactAside;
  /** Tells whether a process of PostgreSQL serves one of our own connections (the store's, not others'). */
  isOwnBackend(processId: number): boolean;
  /** Runs `work`, whose statements may take as long as they need: migrations. */
  unhurried<T>(work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export interface DatabaseOptions {
  dataDir: string;
  databaseUrl: string | undefined;
  /** How long a statement waits for a lock of SQLite, which stops the whole process meanwhile; default ten seconds. */
  busyMs?: number;
}

const BUSY_TIMEOUT_MS = 10_000;

const CACHED_STATEMENTS = 500;
/** A statement that does nothing. */
const NOTHING = 'select 0 where 0';

/** Kysely prepares every statement anew, which costs more than most of them; the same text gets the same statement. */
const cacheStatements = (database: SqliteDatabase.Database): void => {
  const prepare = database.prepare.bind(database);
  const statements = new Map<string, SqliteDatabase.Statement>();
  database.prepare = ((asked: string) => {
    // SQLite rolls back by itself when it finds the disk full; to say so again would fail and hide what went wrong.
    const text = asked === 'rollback' && !database.inTransaction ? NOTHING : asked;
    const known = statements.get(text);
    if (known) return known;
    const statement = prepare(text);
    if (statements.size >= CACHED_STATEMENTS) statements.clear();
    statements.set(text, statement);
    return statement;
  }) as typeof database.prepare;
};

const sqliteDialect = (dataDir: string, busyMs: number): SqliteDialect =>
  new SqliteDialect({
    database: async () => {
      const path = join(dataDir, 'sallyport.db');
      const database = new SqliteDatabase(path, { timeout: busyMs });
      chmodSync(path, 0o600);
      handOver(path, dataDir);
      database.pragma('journal_mode = WAL');
      // FULL: what was acknowledged survives a power cut, not only a crash of this process.
      database.pragma('synchronous = FULL');
      database.pragma('foreign_keys = ON');
      cacheStatements(database);
      return database;
    },
  });

/** Opens the store: SQLite in the data directory, or PostgreSQL when a URL is given. Does not migrate. */
export const openDatabase = ({ dataDir, databaseUrl, busyMs = BUSY_TIMEOUT_MS }: DatabaseOptions): Database => {
  const backends = new Set<number>();
  const patience: Patience = { isEndless: false };
  const inTurn = createLockQueue();
  const asideInTurn = createLockQueue();
  const kysely = new Kysely<Tables>({
    dialect: databaseUrl
      ? new PostgresDialect({ pool: () => createPool(databaseUrl, backends, patience) })
      : sqliteDialect(dataDir, busyMs),
  });
  return {
    kysely,
    kind: databaseUrl ? 'postgres' : 'sqlite',
    // Raising the revision comes first: as a write it takes the lock at once, on both databases, so that a
    // transaction never reads what another is about to change (and SQLite never has to refuse an upgrade).
    transact: (work) =>
      inTurn(() =>
        kysely.transaction().execute(async (tx) => {
          const { revision } = await tx
            .updateTable('revisions')
            .set({ revision: sql<number>`revision + 1` })
            .where('id', '=', 1)
            .returning('revision')
            .executeTakeFirstOrThrow();
          return work(tx, revision);
        }),
      ),
    // The audit chain's row is the lock here: whatever changes accounts writes an entry, so it is needed anyhow.
    transactAside: (work) =>
      asideInTurn(() =>
        kysely.transaction().execute(async (tx) => {
          await tx.updateTable('audit_chain').set({ id: 1 }).where('id', '=', 1).execute();
          return work(tx);
        }),
      ),
    async unhurried(work) {
      patience.isEndless = true;
      try {
        return await work();
      } finally {
        patience.isEndless = false;
      }
    },
    isOwnBackend: (processId) => backends.has(processId),
    stop: () => kysely.destroy(),
  };
};

/** Tells whether `error` is a violated unique constraint, of either database. */
export const isUniqueViolation = (error: unknown): boolean => {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY' || code === '23505';
};
