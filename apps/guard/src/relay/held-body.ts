import { randomUUID } from 'node:crypto';
import { constants, readSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** A body that was read to its end; `close` gives its memory or disk back. */
export interface HeldBody {
  bytes: number;
  /** All of it in memory, in a buffer that the next call uses again. */
  whole(): Uint8Array;
  /** For sending it on. */
  stream(): Buffer | Readable;
  close(): Promise<void>;
}

/** The body is longer than it may be. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge';
}

/** All bodies together are longer than the disk may hold. */
export class SpoolFull extends Error {
  override name = 'SpoolFull';
}

export interface BodyHolderOptions {
  directory: string;
  /** Longest body, bytes. */
  limit: number;
  /** A body up to this stays in memory. */
  memoryBytes: number;
  /** All files together. */
  spoolBytes: number;
}

/** A file that has no name any more: it is gone as soon as it is closed, or its process is. */
const openUnlinked = async (directory: string): Promise<FileHandle> => {
  const path = join(directory, randomUUID());
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  await unlink(path);
  return file;
};

/** Reads bodies to their end: short ones into memory, others into unlinked files (0600). */
export const createBodyHolder = ({ directory, limit, memoryBytes, spoolBytes }: BodyHolderOptions) => {
  let spooled = 0;
  let scratch = Buffer.alloc(0);

  const inMemory = (chunks: readonly Buffer[]): HeldBody => {
    const body = Buffer.concat(chunks);
    return { bytes: body.length, whole: () => body, stream: () => body, close: async () => {} };
  };

  const inFile = (file: FileHandle, bytes: number): HeldBody => ({
    bytes,
    whole() {
      if (scratch.length < bytes) scratch = Buffer.allocUnsafeSlow(Math.min(limit, bytes * 2));
      for (let at = 0; at < bytes; ) {
        const read = readSync(file.fd, scratch, at, bytes - at, at);
        if (read === 0) throw new Error('the spooled body is shorter than it was');
        at += read;
      }
      return scratch.subarray(0, bytes);
    },
    stream: () => file.createReadStream({ start: 0, end: bytes - 1, autoClose: false }),
    async close() {
      spooled -= bytes;
      await file.close();
    },
  });

  return {
    /** Rejects with BodyTooLarge or SpoolFull, or when the sender goes away. */
    async hold(source: Readable): Promise<HeldBody> {
      let chunks: Buffer[] = [];
      let bytes = 0;
      let inSpool = 0;
      let file: FileHandle | undefined;
      try {
        // Whoever sends too much gets an answer, so the connection has to outlive this loop.
        for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          if (bytes > limit) throw new BodyTooLarge(`the body has more than ${limit} bytes`);
          chunks.push(chunk);
          if (!file && bytes <= memoryBytes) continue;
          const part = Buffer.concat(chunks);
          if (spooled + part.length > spoolBytes) throw new SpoolFull('too many long bodies at the same time');
          spooled += part.length;
          inSpool += part.length;
          chunks = [];
          file ??= await openUnlinked(directory);
          // One write may take less than it was given.
          for (let at = 0; at < part.length; ) at += (await file.write(part, at, part.length - at)).bytesWritten;
        }
      } catch (error) {
        spooled -= inSpool;
        await file?.close();
        throw error;
      }
      return file ? inFile(file, bytes) : inMemory(chunks);
    },
  };
};
export type BodyHolder = ReturnType<typeof createBodyHolder>;
