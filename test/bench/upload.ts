/**
 * Uploads over a long line: 4 MB through a proxy of ours that holds every byte for half a round trip, over HTTP/1.1 and HTTP/2, to
 * Sallyport's data plane and to Caddy. And what uploads pin that nobody reads: 20 connections of 50 streams each, to an origin that hangs.
 *
 * node test/bench/upload.ts [round trip in ms]; needs haproxy, caddy. Times follow the round trip: a busy machine hardly shows.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDataPlane, dataPlaneFiles, defaultSettings, writeStaticFiles } from '@sallyport/haproxy';
import { freePorts } from '../support/free-ports.ts';
import { enforceNothing } from '../support/haproxy/enforce-nothing.ts';
import { givenHost } from '../support/haproxy/given.ts';

const roundTripMs = Number(process.argv[2] ?? 50);
const bytes = 4_000_000;
const rounds = 5;
const hostName = 'app.example.com';

const directory = await mkdtemp(join(tmpdir(), 'sp-bench-upload-'));
const [http = 0, https = 0, caddyPort = 0, readingPort = 0, hangingPort = 0] = await freePorts(5);

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Passes bytes on after half a round trip; the line itself is as wide as the machine. */
const slowly = (from: Socket, to: Socket): void => {
  from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), roundTripMs / 2));
  from.on('end', () => setTimeout(() => to.end(), roundTripMs / 2));
  from.on('error', () => to.destroy());
};

const startLine = async (target: number): Promise<{ port: number; stop(): void }> => {
  const server = createTcpServer((client) => {
    const proxy = connectTcp(target, '127.0.0.1');
    slowly(client, proxy);
    slowly(proxy, client);
  });
  const [port = 0] = await freePorts(1);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { port, stop: () => void server.close() };
};

const untilOpen = async (port: number): Promise<void> => {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connectTcp(port, '127.0.0.1', () => resolve(true));
      socket.on('connect', () => socket.destroy());
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await delay(20);
  }
};

const overHttp1 = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const upload = request(
      {
        port,
        servername: hostName,
        headers: { host: hostName },
        method: 'POST',
        rejectUnauthorized: false,
        agent: false,
      },
      (answer) => answer.resume().on('end', resolve),
    );
    upload.on('error', reject);
    upload.end(Buffer.alloc(bytes));
  });

const openHttp2 = (port: number): ClientHttp2Session =>
  connectHttp2(`https://${hostName}:${port}`, {
    lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    rejectUnauthorized: false,
  });

const overHttp2 = async (port: number): Promise<void> => {
  const session = openHttp2(port);
  await new Promise<void>((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ':path': '/' });
    stream.on('error', reject);
    stream.resume().on('end', resolve);
    stream.end(Buffer.alloc(bytes));
  });
  session.destroy();
};

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const timed = async (upload: () => Promise<void>): Promise<number> => {
  const before = performance.now();
  await upload();
  return performance.now() - before;
};

const residentKb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
/** Pages of 4 kB that the kernel holds for TCP, of all processes. */
const kernelKb = (): number => Number(/TCP:.* mem (\d+)/.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1]) * 4;

const measurePinned = async (pid: number): Promise<void> => {
  const before = [residentKb(pid), kernelKb()] as const;
  const sessions = Array.from({ length: 20 }, () => openHttp2(https));
  for (const session of sessions) {
    session.on('error', () => undefined);
    for (let index = 0; index < 50; index++) {
      const stream = session.request({ ':method': 'POST', ':path': '/', ':authority': 'hangs.example.com' });
      stream.on('error', () => undefined);
      stream.write(Buffer.alloc(2_000_000));
    }
  }
  await delay(3_000);
  say(
    `\nPinned by 20 connections × 50 uploads to an origin that hangs: HAProxy ${((residentKb(pid) - before[0]) / 1024).toFixed(0)} MB, ` +
      `kernel ${((kernelKb() - before[1]) / 1024).toFixed(0)} MB (clients, proxy and origin on one machine)`,
  );
  for (const session of sessions) session.destroy();
};

const children: ChildProcess[] = [];
const start = (command: string, args: string[]): ChildProcess => {
  const child = spawn(command, args, {
    stdio: 'ignore',
    env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
  });
  children.push(child);
  return child;
};

const reading = createServer((incoming, answer) => incoming.resume().on('end', () => answer.end('done')));
const hanging = createTcpServer((socket) => socket.pause().on('error', () => undefined));
await new Promise<void>((resolve) => reading.listen(readingPort, '127.0.0.1', resolve));
await new Promise<void>((resolve) => hanging.listen(hangingPort, '127.0.0.1', resolve));

const adminSocket = join(directory, 'admin.sock');
await writeStaticFiles(directory, {
  ...defaultSettings,
  http: [{ address: '127.0.0.1', port: http }],
  https: [{ address: '127.0.0.1', port: https }],
  adminSocket,
  maxConnections: 4_000,
});
enforceNothing(directory);
const dataPlane = createDataPlane({ directory, adminSocket });
try {
  await dataPlane.reconcile({
    hosts: [
      givenHost({ names: [hostName], origin: { port: readingPort } }),
      givenHost({ names: ['hangs.example.com'], origin: { port: hangingPort } }),
    ],
    certificates: [],
  });
  const haproxy = start(process.env.HAPROXY ?? 'haproxy', ['-f', join(directory, dataPlaneFiles.config)]);
  const certificate = join(directory, dataPlaneFiles.defaultCertificate);
  await writeFile(
    join(directory, 'Caddyfile'),
    `{\nadmin off\nauto_https off\n}\nhttps://${hostName}:${caddyPort} {\nbind 127.0.0.1\ntls ${certificate} ${certificate}\nreverse_proxy 127.0.0.1:${readingPort}\n}\n`,
  );
  start('caddy', ['run', '--config', join(directory, 'Caddyfile'), '--adapter', 'caddyfile']);
  say(
    `Upload of ${bytes / 1e6} MB, round trip ${roundTripMs} ms, median of ${rounds}\n\n| proxy | HTTP/1.1 | HTTP/2 |\n|---|---|---|`,
  );
  for (const [name, target] of [
    ['Sallyport', https],
    ['Caddy', caddyPort],
  ] as const) {
    await untilOpen(target);
    const line = await startLine(target);
    const times = { http1: [] as number[], http2: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      times.http1.push(await timed(() => overHttp1(line.port)));
      times.http2.push(await timed(() => overHttp2(line.port)));
    }
    say(`| ${name} | ${median(times.http1).toFixed(0)} ms | ${median(times.http2).toFixed(0)} ms |`);
    line.stop();
  }
  await measurePinned(haproxy.pid ?? 0);
} finally {
  await dataPlane.stop();
  for (const child of children) child.kill('SIGKILL');
  reading.close();
  hanging.close();
  await rm(directory, { recursive: true, force: true });
}
process.exit(0);
