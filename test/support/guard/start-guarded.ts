import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { GuardConfig, GuardMessage } from '@sallyport/contract';
import { guardFiles, logSocket, returnSocket } from '@sallyport/deployment/places';
import {
  createDataPlane,
  type DataPlane,
  type DesiredHost,
  dataPlaneFiles,
  defaultSettings,
  judgedFlags,
  writeStaticFiles,
} from '@sallyport/haproxy';
import { freePort } from '../free-ports.ts';
import { nobodyBanned } from '../haproxy/enforce-nothing.ts';
import { defaultFlags, plainOrigin } from '../haproxy/given.ts';
import { givenConfig, writeConfig } from './config.ts';
import { type GuardProcess, startGuard } from './guard-process.ts';

const LISTS = 512;
const FIREWALL = 1024;

export interface GuardedOptions {
  workers?: number;
  config?: GuardConfig;
  timeoutMs?: number;
  maxConnections?: number;
  /** Flags that guards are asked about; with `failOpen`, what judging.map says. */
  judge?: number;
  failOpen?: boolean;
  /** CIDRs whose X-Forwarded-For is believed. */
  trustedProxies?: string[];
  /** Requests per window; written to rate-limits.map. */
  limit?: number;
  /** Called with everything the guards tell. */
  onTold?: (message: GuardMessage) => void;
  /** Done to the files before guards and HAProxy start; the argument is the data directory. */
  tamper?: (dataDir: string) => void;
  /** Without guards, for tests that put something else in their place. */
  withoutGuards?: boolean;
}

export interface Guarded {
  dataDir: string;
  httpPort: number;
  httpsPort: number;
  plane: DataPlane;
  guards: GuardProcess[];
  /** What the guards told the server. */
  told: GuardMessage[];
  /** HAProxy's only process. */
  haproxyPid: number;
  haproxyOutput(): string;
  serve(...hosts: Partial<DesiredHost>[]): Promise<void>;
  /** Writes a configuration and waits until every guard serves it. */
  configure(config: GuardConfig): Promise<void>;
  /** One command on HAProxy's runtime API. */
  command(line: string): Promise<string>;
  switchTo(judge: number, failOpen?: boolean): Promise<void>;
  restartGuard(index: number): Promise<void>;
  stop(): Promise<void>;
}

const host = (parts: Partial<DesiredHost>): DesiredHost => ({
  id: 1,
  names: ['guarded.test'],
  certificate: null,
  ...parts,
  origin: { ...plainOrigin, port: 0, ...parts.origin },
  flags: {
    ...defaultFlags,
    block_exploits: false,
    websocket_support: true,
    firewall: true,
    access_list: true,
    ...parts.flags,
  },
});

/** A real HAProxy with real guards behind it, in a directory of their own. */
export const startGuarded = async (options: GuardedOptions = {}): Promise<Guarded> => {
  const {
    workers = 2,
    config = givenConfig(1),
    timeoutMs = 1_000,
    maxConnections = 2_000,
    judge = LISTS | FIREWALL,
    failOpen = false,
  } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'sp-guard-'));
  const directory = join(dataDir, 'haproxy');
  const indexes = Array.from({ length: workers }, (_, index) => index);
  const [httpPort, httpsPort] = [await freePort(), await freePort()];
  const adminSocket = join(directory, 'admin.sock');
  await writeStaticFiles(directory, {
    ...defaultSettings,
    http: [{ address: '127.0.0.1', port: httpPort }],
    https: [{ address: '127.0.0.1', port: httpsPort }],
    publicHttpsPort: httpsPort,
    adminSocket,
    maxConnections,
    trustedProxies: options.trustedProxies ?? [],
    rateLimit: { windowSec: 60 },
    guard: {
      agents: indexes.map((index) => guardFiles(dataDir, index).agent),
      relays: indexes.map((index) => guardFiles(dataDir, index).relay),
      spoeFile: join(directory, 'spoe.cfg'),
      returnSocket: returnSocket(dataDir),
      timeoutMs,
    },
  });
  writeFileSync(join(directory, dataPlaneFiles.bansMap), nobodyBanned);
  writeFileSync(
    join(directory, dataPlaneFiles.switchesMap),
    `unasked ${judgedFlags & ~judge}\nfail_open ${failOpen ? 1 : 0}\npolicy 0\n`,
  );
  writeFileSync(join(directory, dataPlaneFiles.limitsMap), `requests ${options.limit ?? 0}\n`);
  writeConfig(dataDir, config);
  options.tamper?.(dataDir);

  const guards = options.withoutGuards ? [] : await Promise.all(indexes.map((index) => startGuard(dataDir, index)));
  const told: GuardMessage[] = [];
  const logs = createServer((socket: Socket) => {
    let rest = '';
    socket.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const message = JSON.parse(line) as GuardMessage;
        if (options.onTold) options.onTold(message);
        else told.push(message);
      }
    });
    socket.on('error', () => socket.destroy());
    logSockets.add(socket);
  });
  const logSockets = new Set<Socket>();
  if (!options.withoutGuards) await new Promise<void>((resolve) => logs.listen(logSocket(dataDir), resolve));

  const connected = Promise.withResolvers<void>();
  const plane = createDataPlane({
    directory,
    adminSocket,
    onEvent: (event) => event.type === 'connected' && connected.resolve(),
  });
  await plane.reconcile({ hosts: [], certificates: [] });
  const haproxy: ChildProcess = spawn(
    process.env.HAPROXY ?? '/usr/sbin/haproxy',
    ['-db', '-f', join(directory, 'haproxy.cfg')],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  // By lines: HAProxy 3.0 writes a warning in pieces, between which a line of its log can come.
  for (const input of [haproxy.stdout, haproxy.stderr]) {
    if (!input) continue;
    createInterface({ input }).on('line', (line) => {
      output += `${line}\n`;
    });
  }
  const exited = once(haproxy, 'exit');
  try {
    await Promise.race([
      connected.promise,
      exited.then(() => {
        throw new Error(`HAProxy did not start:\n${output}`);
      }),
    ]);
  } catch (error) {
    for (const guard of guards) guard.kill('SIGKILL');
    logs.close();
    await plane.stop();
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }

  const command = (line: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(adminSocket, () => socket.write(`${line}\n`));
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      socket.once('end', () => resolve(text));
      socket.once('error', reject);
    });

  return {
    dataDir,
    httpPort,
    httpsPort,
    plane,
    guards,
    told,
    haproxyPid: haproxy.pid ?? 0,
    haproxyOutput: () => output,
    async serve(...hosts) {
      const outcomes = await plane.applyHosts(hosts.map((parts) => ({ type: 'put', host: host(parts) })));
      for (const [id, { applied, issue }] of outcomes) if (!applied) throw new Error(`host ${id}: ${issue}`);
    },
    async configure(next) {
      writeConfig(dataDir, next);
      for (const { revision, diagnostics } of await Promise.all(guards.map((guard) => guard.adopt(next.revision)))) {
        if (revision !== next.revision) throw new Error(`refused: ${diagnostics.join('; ')}`);
      }
    },
    command,
    async switchTo(mask, isOpen = false) {
      await command(`set map ${dataPlaneFiles.switchesMap} unasked ${judgedFlags & ~mask}`);
      await command(`set map ${dataPlaneFiles.switchesMap} fail_open ${isOpen ? 1 : 0}`);
    },
    async restartGuard(index) {
      guards[index] = await startGuard(dataDir, index);
    },
    async stop() {
      await plane.stop();
      haproxy.kill('SIGTERM');
      await exited;
      for (const guard of guards) guard.kill('SIGTERM');
      await Promise.all(guards.map((guard) => guard.exited));
      for (const socket of logSockets) socket.destroy();
      await new Promise((resolve) => logs.close(resolve));
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
