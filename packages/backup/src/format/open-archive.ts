import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ArchiveError } from './archive-error.ts';
import { readManifestChunk, readRange } from './chunks.ts';
import { type Header, parseHeader } from './header.ts';
import { fileBytes, MOST_HEADER_BYTES } from './layout.ts';
import { type KnownParts, type Manifest, type Part, parseManifest } from './manifest.ts';
import { readRows, type TableBatch } from './rows.ts';
import { decrypting, plainSeal, type Seal } from './seal.ts';

/** A backup that is open for reading. Every reading checks what it reads, and may be done again. */
export interface Archive {
  manifest: Manifest;
  /** Rows in the order they were written, at most a thousand at a time. */
  tables(): AsyncGenerator<TableBatch>;
  files(): { name: string; content: AsyncIterable<Buffer> }[];
  /** What secrets in the rows are sealed with, if the backup holds it. */
  key?: Buffer;
  close(): Promise<void>;
}

const MOST_KEY_BYTES = 4 * 1024;

const readStart = async (file: FileHandle) => {
  const start = Buffer.alloc(MOST_HEADER_BYTES);
  const { bytesRead } = await file.read(start, 0, start.length, 0);
  return parseHeader(start.subarray(0, bytesRead));
};

/** What a backup says of itself without its passphrase. Throws an `ArchiveError` for a file that is none. */
export const readHeader = async (path: string): Promise<Header> => {
  const file = await open(path, 'r');
  try {
    return (await readStart(file)).header;
  } finally {
    await file.close();
  }
};

const sealOf = async ({ encryption }: Header, raw: Buffer, passphrase: string | undefined): Promise<Seal> => {
  if (!encryption) return plainSeal(raw);
  if (passphrase === undefined) throw new ArchiveError('the backup is encrypted, and opens with its passphrase only');
  return decrypting(passphrase, encryption, raw);
};

/** A part's own bytes: expanded, never beyond what the manifest says, and compared with its checksum. */
async function* expand(compressed: AsyncIterable<Buffer>, { name, bytes, sha256 }: Part): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // What fails in it ends the reading below.
  const done = pipeline(compressed, gunzip).catch(() => {});
  const digest = createHash('sha256');
  let expanded = 0;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      expanded += piece.length;
      if (expanded > bytes) throw new ArchiveError(`${name} expands to more than the ${bytes} bytes of the manifest`);
      digest.update(piece);
      yield piece;
    }
  } catch (error) {
    // Of zlib, whose codes begin so; a file that can't be read is another matter.
    const isDamage = String((error as NodeJS.ErrnoException).code).startsWith('Z_');
    throw isDamage ? new ArchiveError(`${name} can not be expanded: ${(error as Error).message}`) : error;
  } finally {
    gunzip.destroy();
    await done;
  }
  if (expanded !== bytes || digest.digest('hex') !== sha256) {
    throw new ArchiveError(`${name} is not what the manifest says`);
  }
}

/**
 * Opens a backup and reads its manifest. Throws an `ArchiveError` that says what is wrong: no backup, another format, cut
 * off, a wrong passphrase, a part that is not in `known`.
 */
export const openArchive = async (
  path: string,
  { known, passphrase }: { known: KnownParts; passphrase?: string | undefined },
): Promise<Archive> => {
  const file = await open(path, 'r');
  try {
    const { header, raw } = await readStart(file);
    const seal = await sealOf(header, raw, passphrase);
    const manifest = parseManifest(await readManifestChunk(file, raw, seal), header, known);
    const total = manifest.parts.reduce((sum, { stored }) => sum + stored, 0);
    const { size } = await file.stat();
    const expected = fileBytes(raw.length, total);
    if (size !== expected) {
      throw new ArchiveError(
        size < expected ? 'the backup is cut off' : `the backup goes on for ${size - expected} bytes after its end`,
      );
    }
    let start = 0;
    const placed = manifest.parts.map((part) => {
      const from = start;
      start += part.stored;
      return { part, range: { start: from, end: start, total } };
    });
    const read = ({ part, range }: (typeof placed)[number]) => expand(readRange(file, raw, seal, range), part);
    const named = (kind: string) =>
      placed
        .filter(({ part }) => part.name.startsWith(`${kind}/`))
        .map((one) => ({ ...one, name: one.part.name.slice(kind.length + 1) }));
    const keyPart = placed.find(({ part }) => part.name === 'key');
    if (keyPart && keyPart.part.bytes > MOST_KEY_BYTES) throw new ArchiveError('the key in the backup is none');
    const key = keyPart && (await buffer(read(keyPart)));
    return {
      manifest,
      async *tables() {
        for (const { name, ...one } of named('tables')) {
          for await (const rows of readRows(read(one), { table: name, count: one.part.rows })) {
            yield { table: name, rows };
          }
        }
      },
      files: () => named('files').map(({ name, ...one }) => ({ name, content: read(one) })),
      ...(key ? { key } : {}),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** Reads everything there is. Throws an `ArchiveError` at the first thing that is wrong. */
export const readThrough = async (archive: Archive): Promise<void> => {
  for (const { content } of archive.files()) for await (const _ of content);
  for await (const _ of archive.tables());
};
