import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { CrossingBody } from '../threads/protocol.ts';
import { createComingBodies } from './coming-bodies.ts';
import { createQuota } from './quota.ts';
import { createDiskRoom, openUnlinked } from './spool-file.ts';

/** A body that was read to its end. */
export interface HeldBody {
  bytes: number;
  /** For a thread that judges it; good until `close`. */
  crossing(): CrossingBody;
  /** For sending it on. */
  stream(): Buffer | Readable;
  /** Gives its memory and disk back. Does nothing the second time. */
  close(): Promise<void>;
}

/** The body is longer than it may be. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge';
}

/** There is no room for the body, neither on the disk nor in memory. */
export class SpoolFull extends Error {
  override name = 'SpoolFull';
}

/** Bytes for all bodies together, and for those of one client. */
type Room = { total: number; share: number };

export interface BodyHolderOptions {
  directory: string;
  /** As much of a body stays in memory before a file is used. */
  blockBytes: number;
  memory: Room;
  spool: Room;
  /** Bytes of the disk that are left to others. */
  diskReserve: number;
  /** Monotonic, milliseconds. */
  now: () => number;
}

export interface Incoming {
  source: Readable;
  /** Whose share it takes. */
  client: string;
  /** Ends the reading; `hold` rejects with its reason. */
  signal: AbortSignal;
  onBytes(bytes: number): void;
  /** Longest body, bytes. */
  limit: number;
}

const FIRST_BLOCK = 4_096;
const NOTHING = Buffer.alloc(0);

/**
 * Reads bodies to their end: into memory first, longer ones into unlinked files (0600), and without a disk into memory again.
 * When there is no room, one that is still coming in gives way (coming-bodies.ts).
 */
export const createBodyHolder = (options: BodyHolderOptions) => {
  const { directory, blockBytes } = options;
  const memory = createQuota(options.memory);
  const spool = createQuota(options.spool);
  const coming = createComingBodies(options.now);
  const hasRoom = createDiskRoom(directory, options.diskReserve);

  /** Where the bytes of one body go: a file, then full blocks, then `block` up to `used`. */
  const createStore = (client: string, makeRoom: () => Promise<boolean>) => {
    let file: FileHandle | undefined;
    let isDiskGone = false;
    let fileBytes = 0;
    let full: Buffer[] = [];
    let block: Buffer = NOTHING;
    let used = 0;
    let memoryTaken = 0;
    let spoolTaken = 0;

    const takeMemory = (bytes: number): boolean => {
      if (!memory.take(client, bytes)) return false;
      memoryTaken += bytes;
      return true;
    };

    /** Makes room behind `used`; false when there is none in memory, or the disk is there to be used. */
    const enlarge = (): boolean => {
      if (block.length < blockBytes) {
        const length = Math.min(blockBytes, Math.max(FIRST_BLOCK, block.length * 2));
        if (!takeMemory(length - block.length)) return false;
        const larger = Buffer.allocUnsafeSlow(length);
        block.copy(larger, 0, 0, used);
        block = larger;
        return true;
      }
      if (!isDiskGone || !takeMemory(blockBytes)) return false;
      full.push(block);
      block = Buffer.allocUnsafeSlow(blockBytes);
      used = 0;
      return true;
    };

    /** Copies what there is memory for; returns what is left. */
    const keep = (chunk: Buffer): Buffer => {
      let at = 0;
      while (at < chunk.length && (used < block.length || enlarge())) {
        const copied = chunk.copy(block, used, at);
        used += copied;
        at += copied;
      }
      return chunk.subarray(at);
    };

    /** Writes to the file; one write may take less than it was given. Returns how much was written before it failed. */
    const write = async (bytes: Buffer): Promise<number> => {
      let at = 0;
      try {
        file ??= await openUnlinked(directory);
        while (at < bytes.length) at += (await file.write(bytes, at, bytes.length - at, fileBytes + at)).bytesWritten;
      } catch {
        // Full, read-only, gone: whatever it is, memory has to do from here on.
        isDiskGone = true;
      }
      fileBytes += at;
      return at;
    };

    const mayWrite = async (bytes: number): Promise<boolean> => {
      if (isDiskGone) return false;
      while (!spool.take(client, bytes)) if (!(await makeRoom())) return false;
      spoolTaken += bytes;
      return hasRoom(bytes).catch(() => false);
    };

    const spill = async (rest: Buffer): Promise<void> => {
      if (await mayWrite(used + rest.length)) {
        const written = await write(block.subarray(0, used));
        block.copyWithin(0, written, used);
        used -= written;
        const left = used > 0 ? rest : rest.subarray(await write(rest));
        if (left.length === 0) return;
        rest = left;
      }
      isDiskGone = true;
      for (let left = keep(rest); left.length > 0; left = keep(left)) {
        if (!(await makeRoom())) throw new SpoolFull('there is no room for the body');
      }
    };

    const blocks = (): Buffer[] => (used > 0 ? [...full, block.subarray(0, used)] : full);

    return {
      taken: (): number => memoryTaken + spoolTaken,
      /** Resolves when the bytes are stored; undefined when they are already. Rejects with SpoolFull. */
      add(chunk: Buffer): Promise<void> | undefined {
        const rest = keep(chunk);
        return rest.length === 0 ? undefined : spill(rest);
      },
      crossing: (bytes: number): CrossingBody => ({
        bytes,
        file: file && fileBytes > 0 ? { descriptor: file.fd, bytes: fileBytes } : undefined,
        blocks: blocks(),
      }),
      stream(): Buffer | Readable {
        if (!file || fileBytes === 0) return Buffer.concat(blocks());
        const start = file.createReadStream({ start: 0, end: fileBytes - 1, autoClose: false });
        const rest = blocks();
        return rest.length === 0
          ? start
          : Readable.from(
              (async function* () {
                yield* start as AsyncIterable<Buffer>;
                yield* rest;
              })(),
              { objectMode: false },
            );
      },
      async close(): Promise<void> {
        memory.give(client, memoryTaken);
        spool.give(client, spoolTaken);
        memoryTaken = 0;
        spoolTaken = 0;
        full = [];
        block = NOTHING;
        const closing = file;
        file = undefined;
        await closing?.close();
      },
    };
  };

  return {
    /** Rejects with BodyTooLarge, SpoolFull, TooSlow or the signal's reason, or when the sender goes away. */
    async hold({ source, client, signal, onBytes, limit }: Incoming): Promise<HeldBody> {
      const store = createStore(client, () => upload.makeRoom());
      const freed = Promise.withResolvers<void>();
      let end: (error: Error) => void = () => {};
      const upload = coming.enter({ client, taken: store.taken, end: (error) => end(error), freed: freed.promise });
      let bytes = 0;
      let storing: Promise<void> | undefined;
      try {
        // Whoever sends too much or too slowly gets an answer, so the source is left open.
        await new Promise<void>((resolve, reject) => {
          const settle = (error?: unknown): void => {
            source.off('data', onData).off('end', onEnd).off('close', onClose).off('error', settle).pause();
            signal.removeEventListener('abort', onAbort);
            if (error === undefined) resolve();
            else reject(error);
          };
          const onEnd = (): void => {
            source.off('close', onClose);
            // The last bytes may still be on their way to the disk.
            if (storing) storing.then(() => settle(), settle);
            else settle();
          };
          const onClose = (): void => settle(new Error('the sender has gone away'));
          const onAbort = (): void => settle(signal.reason);
          const onData = (chunk: Buffer): void => {
            bytes += chunk.length;
            onBytes(chunk.length);
            if (bytes > limit) {
              settle(new BodyTooLarge(`the body has more than ${limit} bytes`));
              return;
            }
            storing = store.add(chunk);
            if (!storing) return;
            source.pause();
            storing.then(() => source.resume(), settle);
          };
          end = settle;
          if (signal.aborted) {
            onAbort();
            return;
          }
          source.on('data', onData).once('end', onEnd).once('close', onClose).once('error', settle);
          signal.addEventListener('abort', onAbort);
        });
      } catch (error) {
        await storing?.catch(() => {});
        await store.close();
        throw error;
      } finally {
        upload.leave();
        freed.resolve();
      }
      return { bytes, crossing: () => store.crossing(bytes), stream: store.stream, close: store.close };
    },
  };
};
export type BodyHolder = ReturnType<typeof createBodyHolder>;
