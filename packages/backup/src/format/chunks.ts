import type { FileHandle } from 'node:fs/promises';
import { ArchiveError } from './archive-error.ts';
import { CHUNK_BYTES, chunkStart, lastChunk, MANIFEST_BYTES, TAG_BYTES } from './layout.ts';
import type { Seal } from './seal.ts';

const writeAll = async (file: FileHandle, bytes: Buffer, position: number): Promise<void> => {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
};

/** Writes bytes as sealed chunks behind the room that is left for the manifest. */
export const createChunkWriter = (file: FileHandle, header: Buffer, seal: Seal) => {
  const pending = Buffer.allocUnsafe(CHUNK_BYTES);
  let filled = 0;
  let index = 1;
  let total = 0;

  const put = (bytes: Buffer, place: { index: number; isLast: boolean }) =>
    writeAll(file, seal.close(bytes, place), chunkStart(header.length, place.index));

  return {
    /** How many bytes were written so far. */
    total: () => total,

    async write(bytes: Buffer): Promise<void> {
      total += bytes.length;
      for (let from = 0; from < bytes.length; ) {
        // Not before there is more: the last chunk is sealed as the last.
        if (filled === CHUNK_BYTES) {
          await put(pending, { index, isLast: false });
          filled = 0;
          index += 1;
        }
        const size = bytes.copy(pending, filled, from, from + CHUNK_BYTES - filled);
        filled += size;
        from += size;
      }
    },

    /** Writes what is left, and then what stands before it all. */
    async end(manifest: Buffer): Promise<void> {
      await put(pending.subarray(0, filled), { index, isLast: true });
      await put(manifest, { index: 0, isLast: false });
      await writeAll(file, header, 0);
    },
  };
};

/** Reads exactly so many bytes. Throws an `ArchiveError` when the file ends before. */
export const readExactly = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new ArchiveError('the backup is cut off');
    filled += bytesRead;
  }
  return bytes;
};

/** Reads and opens the chunk that holds the manifest. */
export const readManifestChunk = async (file: FileHandle, header: Buffer, seal: Seal): Promise<Buffer> =>
  seal.open(await readExactly(file, chunkStart(header.length, 0), MANIFEST_BYTES + TAG_BYTES), {
    index: 0,
    isLast: false,
  });

export interface Range {
  /** Of the parts' bytes, all parts in a row. */
  start: number;
  end: number;
  /** What all parts have together. */
  total: number;
}

/** Bytes `start` to `end` of the parts, opened chunk by chunk. */
export async function* readRange(
  file: FileHandle,
  header: Buffer,
  seal: Seal,
  { start, end, total }: Range,
): AsyncGenerator<Buffer> {
  const last = lastChunk(total);
  for (let at = start; at < end; ) {
    const index = Math.floor(at / CHUNK_BYTES) + 1;
    const chunkAt = (index - 1) * CHUNK_BYTES;
    const length = Math.min(CHUNK_BYTES, total - chunkAt);
    const stored = await readExactly(file, chunkStart(header.length, index), length + TAG_BYTES);
    const bytes = seal.open(stored, { index, isLast: index === last });
    yield bytes.subarray(at - chunkAt, end - chunkAt);
    at = chunkAt + length;
  }
}
