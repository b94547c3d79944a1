import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { Client, type ConnectConfig, type SFTPWrapper } from 'ssh2';
import { strangeKey } from './sftp-errors.ts';

export interface SessionOptions {
  /** The address that was checked. */
  address: string;
  port: number;
  user: string;
  /** Empty: the password is given. */
  privateKey: string;
  password: string;
  /** `SHA256:…` of the host's keys. None: it is told nothing, and the error names the one that it shows. */
  hostKeys: readonly string[];
  signal: AbortSignal;
  idleMs: number;
}

type Done<T> = (error: Error | null | undefined, value: T) => void;

/** Nothing with SHA-1, no CBC, and no group that the host makes up: its size would be work for us. */
const ALGORITHMS = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
  ],
  serverHostKey: [
    'ssh-ed25519',
    'ecdsa-sha2-nistp256',
    'ecdsa-sha2-nistp384',
    'ecdsa-sha2-nistp521',
    'rsa-sha2-512',
    'rsa-sha2-256',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} satisfies ConnectConfig['algorithms'];

/** As `ssh-keygen -l` shows it. */
const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** Signs in at an SFTP host and begins its file transfer. Whatever it leaves open ends with `close`, or with the first fault. */
export const openSession = async (options: SessionOptions) => {
  const { address, port, user, privateKey, password, hostKeys, signal, idleMs } = options;
  const client = new Client();
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  // Whoever waits for something is told; nobody may be waiting.
  failed.catch(() => {});
  const socket = connect({ host: address, port });
  const give = (error: Error): void => {
    fail(error);
    socket.destroy();
  };
  const abort = () => give(new Error('the copy was aborted here'));
  const close = (): void => {
    signal.removeEventListener('abort', abort);
    client.end();
    give(new Error('the connection was closed here'));
  };
  client.on('error', give);
  client.on('close', () => fail(new Error('the SFTP host closed the connection')));
  socket.on('error', give);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();

  /**
   * Settles when `begin` calls back. Gives the connection up when nothing goes on for too long, or when all of it takes more
   * than `mostMs`.
   */
  const within = async <T>(mostMs: number, begin: (done: Done<T>, goesOn: () => void) => void): Promise<T> => {
    const idle = setTimeout(() => give(new Error(`the SFTP host did not go on for ${idleMs / 1_000} seconds`)), idleMs);
    const last = setTimeout(() => give(new Error('the SFTP host is too slow')), mostMs);
    const work = new Promise<T>((resolve, reject) => {
      begin(
        (error, value) => (error ? reject(error) : resolve(value)),
        () => idle.refresh(),
      );
    });
    // What was given up may still call back.
    work.catch(() => {});
    try {
      return await Promise.race([failed, work]);
    } finally {
      clearTimeout(idle);
      clearTimeout(last);
    }
  };

  /** For what is one question and one answer. */
  const ask = <T>(begin: (done: Done<T>) => void): Promise<T> => within(idleMs, begin);
  const act = (begin: (done: (error?: Error | null) => void) => void): Promise<void> =>
    ask<void>((done) => begin((error) => done(error, undefined)));

  try {
    await act((done) => {
      client.once('ready', () => done());
      client.connect({
        sock: socket,
        username: user,
        ...(privateKey === '' ? { password } : { privateKey }),
        algorithms: ALGORITHMS,
        // `act` watches over it.
        readyTimeout: 0,
        hostVerifier(key: Buffer) {
          const shown = fingerprintOf(key);
          if (hostKeys.includes(shown)) return true;
          give(strangeKey(shown, hostKeys));
          return false;
        },
      });
    });
    const sftp = await ask<SFTPWrapper>((done) => client.sftp(done));
    sftp.on('error', give);
    return { sftp, within, ask, act, close };
  } catch (error) {
    close();
    throw error;
  }
};
