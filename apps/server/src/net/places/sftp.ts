import { type FileHandle, open as openFile } from 'node:fs/promises';
import type { Stats } from 'ssh2';
import { administratorsAddress } from '../administrators-address.ts';
import { type CopySource, IDLE_MS, MOST_READ_BYTES, mostMsFor, type Place, type PlaceOptions } from './place.ts';
import type { PlaceUrl } from './place-url.ts';
import { inWords, isNoSuchFile, isUnsupported } from './sftp-errors.ts';
import { openSession, type SessionOptions } from './sftp-session.ts';

export interface SftpOptions extends PlaceOptions, Pick<SessionOptions, 'privateKey' | 'password' | 'hostKeys'> {
  place: Extract<PlaceUrl, { kind: 'sftp' }>;
}

/** What every host takes at once. */
const PIECE_BYTES = 32 * 1024;
const LANES = 32;

/** Opens a directory of an SFTP host. A file gets its name there once all of it is there. */
export const openSftp = async ({ place, idleMs = IDLE_MS, ...how }: SftpOptions): Promise<Place> => {
  const { host, port, user, directory } = place;
  const told = (error: Error): never => {
    throw inWords(error, place);
  };
  const address = await administratorsAddress(host);
  const { sftp, within, ask, act, close } = await openSession({ ...how, idleMs, address, port, user }).catch(told);

  const pathOf = (name: string): string => `${directory}/${name}`;
  const partOf = (name: string): string => pathOf(`.${name}.part`);
  const removePath = (path: string): Promise<void> =>
    act((done) => sftp.unlink(path, (error) => done(isNoSuchFile(error) ? null : error)));
  /** Many pieces are under way at once: a host may be far away. */
  const send = async (file: FileHandle, handle: Buffer, size: number, goesOn: () => void): Promise<void> => {
    let next = 0;
    const lane = async (): Promise<void> => {
      const piece = Buffer.alloc(PIECE_BYTES);
      while (next < size) {
        const at = next;
        const length = Math.min(PIECE_BYTES, size - at);
        next += length;
        const { bytesRead } = await file.read(piece, 0, length, at);
        if (bytesRead !== length) throw new Error('the backup is shorter than it was');
        const { promise: written, resolve, reject } = Promise.withResolvers<void>();
        sftp.write(handle, piece, 0, length, at, (error) => (error ? reject(error) : resolve()));
        await written;
        goesOn();
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  };

  /** Where the host can: what has its name must outlive a power cut there. */
  const sync = (handle: Buffer): Promise<void> =>
    act((done) => sftp.ext_openssh_fsync(handle, done)).catch((error: unknown) => {
      if (!isUnsupported(error)) throw error;
    });

  const write = async (part: string, { path, size }: CopySource): Promise<void> => {
    const file = await openFile(path);
    try {
      // What is there may be a link that somebody laid, to a file that is not ours to write.
      await removePath(part);
      const handle = await ask<Buffer>((done) => sftp.open(part, 'wx', 0o600, done));
      const close = () => act((done) => sftp.close(handle, done));
      try {
        await within<void>(mostMsFor(size), (done, goesOn) => {
          send(file, handle, size, goesOn).then(
            () => done(null, undefined),
            (error: Error) => done(error, undefined),
          );
        });
        await sync(handle);
      } catch (error) {
        // As long as it is open there, what is removed takes its room.
        await close().catch(() => {});
        throw error;
      }
      await close();
    } finally {
      await file.close();
    }
  };

  /** Over a file of that name, which is one of ours; not every host can do that in one step. */
  const rename = async (from: string, to: string): Promise<void> => {
    try {
      await act((done) => sftp.ext_openssh_rename(from, to, done));
    } catch (error) {
      if (!isUnsupported(error)) throw error;
      await removePath(to);
      await act((done) => sftp.rename(from, to, done));
    }
  };

  const put = async (name: string, source: CopySource): Promise<void> => {
    const part = partOf(name);
    try {
      await write(part, source);
      const { size: there } = await ask<Stats>((done) => sftp.stat(part, done));
      if (there !== source.size)
        throw new Error(`the SFTP host has ${there} bytes of ${source.size}: its disk may be full`);
      await rename(part, pathOf(name));
    } catch (error) {
      await removePath(part).catch(() => {});
      throw error;
    }
  };

  const get = async (name: string): Promise<Buffer> => {
    const handle = await ask<Buffer>((done) => sftp.open(pathOf(name), 'r', done));
    const { size } = await ask<Stats>((done) => sftp.fstat(handle, done));
    if (size > MOST_READ_BYTES) throw new Error('the SFTP host has more than was put there');
    const content = Buffer.alloc(size);
    for (let at = 0; at < size; ) {
      const read = await ask<number>((done) =>
        sftp.read(handle, content, at, size - at, at, (error, bytes) => done(error, bytes)),
      );
      if (read === 0) throw new Error('the SFTP host has less than was put there');
      at += read;
    }
    await act((done) => sftp.close(handle, done));
    return content;
  };

  return {
    put: (name, source) => put(name, source).catch(told),
    get: (name) => get(name).catch(told),
    async remove(name) {
      // And what an attempt that was cut off left of it.
      for (const path of [partOf(name), pathOf(name)]) await removePath(path).catch(told);
    },
    async close() {
      close();
    },
  };
};
