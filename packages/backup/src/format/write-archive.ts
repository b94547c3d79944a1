import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createChunkWriter } from './chunks.ts';
import { type Header, headerBytes } from './header.ts';
import { FORMAT, MOST_EXPANDED_BYTES } from './layout.ts';
import { type Manifest, manifestBytes, type Part } from './manifest.ts';
import { type TableBatch, toLines } from './rows.ts';
import { encrypting, plainSeal } from './seal.ts';

/** What goes into a backup. */
export interface ArchiveContents extends Omit<Header, 'encryption'> {
  migrations: readonly string[];
  key_fingerprint: string;
  /** Every table that the backup stands for; one without rows is listed as empty. */
  tableNames: readonly string[];
  /** All batches of a table in a row. */
  tables: AsyncIterable<TableBatch>;
  files?: readonly { name: string; content: AsyncIterable<Buffer> }[];
  /** What secrets in the rows are sealed with; only into a file that has a passphrase. */
  key?: Buffer | undefined;
}

/** Enough to make a backup a tenth of its rows; more would cost a serving machine more than the disk does. */
const COMPRESSION = { level: 3 };

/**
 * Writes a backup into an empty file that is open for writing, in memory that does not grow with it, and returns its
 * manifest. Neither syncs nor closes the file. Throws when `passphrase` is missing for a key.
 */
export const writeArchive = async (
  file: FileHandle,
  contents: ArchiveContents,
  passphrase?: string,
): Promise<Manifest> => {
  const { migrations, key_fingerprint, tableNames, tables, files = [], key, ...about } = contents;
  if (key && passphrase === undefined) throw new Error('a key must not be written without a passphrase');
  const encrypted = passphrase === undefined ? undefined : await encrypting(passphrase);
  const header: Header = { ...about, encryption: encrypted?.encryption ?? null };
  const raw = headerBytes(header);
  const chunks = createChunkWriter(file, raw, encrypted?.seal(raw) ?? plainSeal(raw));
  const parts: Part[] = [];
  let expanded = 0;

  const writePart = async (name: string, content: () => AsyncIterable<Buffer>, rows = () => 0): Promise<void> => {
    if (parts.some((part) => part.name === name)) throw new Error(`${name} came twice`);
    const before = chunks.total();
    const digest = createHash('sha256');
    let bytes = 0;
    await pipeline(
      async function* () {
        for await (const piece of content()) {
          digest.update(piece);
          bytes += piece.length;
          if (expanded + bytes > MOST_EXPANDED_BYTES) throw new Error('the store is too large for one backup');
          yield piece;
        }
      },
      createGzip(COMPRESSION),
      async (compressed) => {
        for await (const piece of compressed) await chunks.write(piece as Buffer);
      },
    );
    expanded += bytes;
    parts.push({ name, rows: rows(), bytes, stored: chunks.total() - before, sha256: digest.digest('hex') });
  };

  if (key) {
    await writePart('key', async function* () {
      yield key;
    });
  }
  for (const { name, content } of files) await writePart(`files/${name}`, () => content);
  const batches = tables[Symbol.asyncIterator]();
  const left = new Set(tableNames);
  try {
    let next = await batches.next();
    while (!next.done) {
      const { table } = next.value;
      if (!left.delete(table)) throw new Error(`rows of ${table} came twice, or nobody asked for them`);
      let rows = 0;
      const lines = async function* () {
        for (; !next.done && next.value.table === table; next = await batches.next()) {
          rows += next.value.rows.length;
          yield* toLines(next.value.rows, table);
        }
      };
      await writePart(`tables/${table}`, lines, () => rows);
    }
  } finally {
    await batches.return?.();
  }
  for (const table of left) await writePart(`tables/${table}`, async function* () {});
  const described = { migrations, key_fingerprint, parts };
  await chunks.end(manifestBytes(described));
  return { ...header, format: FORMAT, ...described };
};
