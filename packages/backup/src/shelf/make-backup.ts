import { createReadStream, existsSync } from 'node:fs';
import { ownCountryDatabase } from '@sallyport/access/country-database';
import type { Config } from '@sallyport/deployment/config';
import { productVersion } from '@sallyport/deployment/product-version';
import { keyMaterial } from '@sallyport/store/secrets/deployment-key';
import { describeStore } from '@sallyport/store/snapshot/describe';
import { inSnapshot, readTables } from '@sallyport/store/snapshot/read-tables';
import { KEPT_TABLES } from '@sallyport/store/snapshot/tables';
import type { Made } from '../format/header.ts';
import type { KnownParts } from '../format/manifest.ts';
import { openArchive, readThrough } from '../format/open-archive.ts';
import { writeArchive } from '../format/write-archive.ts';
import { type Draft, digestOf, discard } from './files.ts';
import type { Shelf } from './shelf.ts';

/** The one file of the data directory, beside the store, that an operator puts there: decides what geo lists mean. */
export const COUNTRY_FILE = 'geo/country.mmdb';

/** What a backup of this version may hold. */
export const KNOWN_PARTS: KnownParts = { tables: new Set(KEPT_TABLES), files: new Set([COUNTRY_FILE]) };

export interface BackupOptions {
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'encryptionKey'>;
  shelf: Pick<Shelf, 'draft'>;
  at: Date;
  kind: Made;
  reason?: string;
  passphrase?: string | undefined;
}

const PIECE_BYTES = 256 * 1024;

/** Opens the file when it is its turn. */
async function* contentOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>;
}

const ownFiles = (dataDir: string) => {
  const path = ownCountryDatabase(dataDir);
  return existsSync(path) ? [{ name: COUNTRY_FILE, content: contentOf(path) }] : [];
};

/** Undefined when nothing is sealed yet. Throws when the key is not here: a backup must not seem to hold it. */
const keyFor = (config: BackupOptions['config'], keyId: string): Buffer | undefined => {
  if (keyId === '') return undefined;
  const key = keyMaterial(config, keyId);
  if (!key) throw new Error(`the key ${keyId}, which the store is sealed with, is not in ${config.dataDir}`);
  return key;
};

const write = (draft: Draft, { config, at, kind, reason = '', passphrase }: BackupOptions): Promise<unknown> =>
  inSnapshot(config, async (tx) => {
    const { migrations, tables, keyId = '' } = await describeStore(tx);
    const key = passphrase === undefined ? undefined : keyFor(config, keyId);
    const contents = {
      product: productVersion(),
      created_at: at.toISOString(),
      kind,
      reason,
      migrations,
      key_fingerprint: keyId,
      tableNames: tables,
      tables: readTables(tx, tables),
      files: ownFiles(config.dataDir),
      key,
    };
    return writeArchive(draft.file, contents, passphrase);
  });

/**
 * Writes a backup of the store as it is at this moment, and reads it back: what is returned has no fault. To be kept or
 * discarded; when this throws, nothing is left.
 */
export const makeBackup = async (options: BackupOptions): Promise<{ draft: Draft; sha256: string }> => {
  const draft = await options.shelf.draft();
  try {
    await write(draft, options);
    await draft.file.sync();
    const archive = await openArchive(draft.path, { known: KNOWN_PARTS, passphrase: options.passphrase });
    try {
      await readThrough(archive);
    } finally {
      await archive.close();
    }
    return { draft, sha256: await digestOf(draft.path) };
  } catch (error) {
    await discard(draft);
    throw error;
  }
};
