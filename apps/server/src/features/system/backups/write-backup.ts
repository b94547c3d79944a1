import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Executor } from '@sallyport/store/database/open';
import type { Tables } from '@sallyport/store/database/tables';

const compress = promisify(gzip);

/**
 * Every table, in an order that satisfies foreign keys when the rows are put back, and whether it is kept. Left out is
 * what a restored store must not bring back: sign-ins, explanations of refusals, answers to requests, and the counter of changes.
 */
const TABLES: Readonly<Record<keyof Tables, boolean>> = {
  users: true,
  recovery_codes: true,
  invites: true,
  api_tokens: true,
  certificates: true,
  remote_servers: true,
  access_lists: true,
  proxy_hosts: true,
  proxy_host_names: true,
  origin_addresses: true,
  settings: true,
  security_config: true,
  break_glass_tokens: true,
  decisions: true,
  decision_versions: true,
  rulesets: true,
  notification_settings: true,
  audit_logs: true,
  audit_chain: true,
  sessions: false,
  security_blocks: false,
  idempotency_keys: false,
  revisions: false,
};
const KEPT = (Object.keys(TABLES) as (keyof Tables)[]).filter((table) => TABLES[table]);

export interface BackupDeps {
  db: Executor;
  dataDir: string;
  clock: () => Date;
}

/**
 * Makes a function that writes all rows of the store as gzipped JSON (`{format, created_at, reason, tables}`) into
 * `backups/`, 0600, and returns the file's name when it is safely on disk. Private keys stay sealed in it.
 */
export const createBackupWriter =
  ({ db, dataDir, clock }: BackupDeps) =>
  async (reason: string): Promise<string> => {
    const created_at = clock().toISOString();
    const tables = await db.transaction().execute(async (tx) => {
      const rows: Record<string, unknown[]> = {};
      for (const table of KEPT) rows[table] = await tx.selectFrom(table).selectAll().execute();
      return rows;
    });
    const bytes = await compress(JSON.stringify({ format: 1, created_at, reason, tables }));
    const directory = join(dataDir, 'backups');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const name = `sallyport-${created_at.replaceAll(/[:.]/g, '-')}-${reason}.json.gz`;
    const path = join(directory, name);
    const file = await open(`${path}.part`, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.part`, path);
    return name;
  };
