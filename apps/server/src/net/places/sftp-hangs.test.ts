import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, type SFTPWrapper, Server as SshServer } from 'ssh2';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../test/support/eventually.ts';
import { makeSshKey } from '../../testing/start-sshd.ts';
import { openSftp, type SftpOptions } from './sftp.ts';

const NAME = 'sallyport-20261122-050000-manual-0a1b2c.backup';
const directory = mkdtempSync(join(tmpdir(), 'sallyport-sftp-hangs-'));
const path = join(directory, 'source');
const source = { path, size: 1024 * 1024, sha256: '' };
const STEPS = ['auth', 'session', 'sftp', 'OPEN', 'WRITE', 'CLOSE', 'STAT', 'EXTENDED'] as const;
type Step = (typeof STEPS)[number];
let fingerprint = '';
let hostKey = '';

beforeAll(() => {
  writeFileSync(path, Buffer.alloc(source.size));
  fingerprint = makeSshKey(join(directory, 'host'));
  hostKey = readFileSync(join(directory, 'host'), 'utf8');
});
afterAll(() => rmSync(directory, { recursive: true }));

const servers: { server: Server; sockets: Set<Socket> }[] = [];
afterEach(() => {
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

/** The port of a peer that does `answer` with each connection. */
const listen = async (answer: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    answer(socket);
  });
  servers.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** Speaks SFTP, keeps nothing, and does `at` instead of answering at one step. */
const speak = (step: Step | undefined, at: () => void) => {
  const serve = (sftp: SFTPWrapper): void => {
    let size = 0;
    const handle = Buffer.from('0');
    const unless = (name: Step, answer: () => void) => (name === step ? at() : answer());
    sftp.on('OPEN', (request) => unless('OPEN', () => sftp.handle(request, handle)));
    sftp.on('WRITE', (request, _handle, _at, data) => {
      size += data.length;
      unless('WRITE', () => sftp.status(request, 0));
    });
    sftp.on('CLOSE', (request) => unless('CLOSE', () => sftp.status(request, 0)));
    sftp.on('STAT', (request) => unless('STAT', () => sftp.attrs(request, { size } as never)));
    sftp.on('REMOVE', (request) => sftp.status(request, 0));
    sftp.on('RENAME', (request) => unless('EXTENDED', () => sftp.status(request, 0)));
  };
  const ssh = new SshServer({ hostKeys: [hostKey] }, (client: Connection) => {
    client.on('error', () => {});
    client.on('authentication', (context) => {
      if (step === 'auth') return at();
      return context.method === 'password' && context.password === 'word'
        ? context.accept()
        : context.reject(['password']);
    });
    client.on('session', (accept) => {
      if (step === 'session') return at();
      accept().on('sftp', (accept) => (step === 'sftp' ? at() : serve(accept())));
    });
  });
  return listen((socket) => ssh.injectSocket(socket));
};

const open = (port: number, more: Partial<SftpOptions> = {}) =>
  openSftp({
    place: { kind: 'sftp', host: '127.0.0.1', port, user: 'me', directory: '/srv' },
    privateKey: '',
    password: 'word',
    hostKeys: [fingerprint],
    signal: new AbortController().signal,
    ...more,
  });
const putAt = async (port: number, more: Partial<SftpOptions> = {}) => {
  const place = await open(port, more);
  return place.put(NAME, source).finally(place.close);
};
const isSourceOpen = () =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });

test('a host that takes a password, and knows no extensions of OpenSSH, is served as well', async () => {
  await putAt(await speak(undefined, () => {}));
  await expect(open(await speak(undefined, () => {}), { password: 'another' })).rejects.toThrow(/does not let me in/);
});

test.each(STEPS)('a host that says nothing more at %s is given up', async (step) => {
  const port = await speak(step, () => {});
  await expect(putAt(port, { idleMs: 500 })).rejects.toThrow('did not go on for 0.5 seconds');
  await eventually(isSourceOpen).toBe(false);
});

test('one that does not even greet is given up, and a stop of ours does not wait for it', async () => {
  const silent = await listen((socket) => socket.resume());
  await expect(open(silent, { idleMs: 300 })).rejects.toThrow('did not go on for 0.3 seconds');
  const ending = new AbortController();
  const opening = open(silent, { signal: ending.signal });
  ending.abort();
  await expect(opening).rejects.toThrow(/aborted here/);
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const putting = new AbortController();
  const put = putAt(await speak('WRITE', resolve), { signal: putting.signal });
  await reached;
  putting.abort();
  await expect(put).rejects.toThrow(/aborted here/);
  await eventually(isSourceOpen).toBe(false);
});

test('one that ends in the middle, or speaks nonsense, is a failure of that copy and of nothing else', async () => {
  for (const step of STEPS) {
    const port = await speak(step, () => {
      for (const { sockets } of servers) for (const socket of sockets) socket.destroy();
    });
    await expect(putAt(port), step).rejects.toThrow();
  }
  for (const greeting of ['', 'SSH-2.0-x\r\n', 'SSH-1.5-x\r\n', 'HTTP/1.1 400 Bad Request\r\n\r\n']) {
    for (const byte of [0, 20, 255]) {
      const port = await listen((socket) => {
        socket.write(greeting);
        socket.end(Buffer.alloc(70_000, byte));
      });
      await expect(open(port), `${greeting} ${byte}`).rejects.toThrow();
    }
  }
  await eventually(isSourceOpen).toBe(false);
});
