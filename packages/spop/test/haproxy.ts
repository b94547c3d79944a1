import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** The HAProxy under test: HAPROXY_BIN when set (a newer release in a private root, say), else the installed one. */
const BINARY = process.env.HAPROXY_BIN ?? 'haproxy';

export const haproxyVersion = async (): Promise<{ major: number; minor: number }> => {
  const { stdout } = await promisify(execFile)(BINARY, ['-v']);
  const match = /version (\d+)\.(\d+)/.exec(stdout);
  if (match === null) throw new Error(`no version in: ${stdout}`);
  return { major: Number(match[1]), minor: Number(match[2]) };
};

/** SPOE's mux came with 3.1: its backends say `mode spop`, and fragmentation is gone. */
export const hasSpopMux = ({ major, minor }: { major: number; minor: number }) =>
  major > 3 || (major === 3 && minor >= 1);

export type Answer = { status: number; headers: IncomingHttpHeaders; body: string };

export type RequestOptions = {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: Buffer;
  /** The line that a load balancer in front would send: it sets the client's address. */
  proxyLine?: string;
};

const FROM_IPV4 = 'PROXY TCP4 192.0.2.7 198.51.100.1 40000 80\r\n';

/** Repeats until `attempt` gives something; the process it waits for has no other way to tell that it is ready. */
const until = async <T>(what: string, attempt: () => Promise<T | undefined>): Promise<T> => {
  for (let tries = 0; tries < 1000; tries++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await delay(10);
  }
  throw new Error(`${what}: not within 10 s`);
};

const canConnect = (path: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const hasExited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

const exitOf = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (hasExited(child)) resolve();
    else child.once('exit', () => resolve());
  });

const spoeConfig = (isMux: boolean, args: string, agentOptions: string) => `
[check]
spoe-agent check-agent
    messages check-request
    option var-prefix check
    option set-on-error error
    ${isMux ? '' : 'timeout hello 2s\n    timeout idle 30s'}
    timeout processing 500ms
    ${agentOptions}
    use-backend agents

spoe-message check-request
    args ${args}
    event on-frontend-http-request
`;

const ALL_ARGUMENTS =
  'id=unique-id src=src method=method path=path query=query pathq=pathq version=req.ver headers=req.hdrs_bin body=req.body ' +
  'port=dst_port tls=ssl_fc none=req.cook(none)';

const mainConfig = (directory: string, isMux: boolean, servers: readonly string[]) => `
global
    stats socket ${directory}/admin.sock level admin expose-fd listeners
    nbthread 2
defaults
    mode http
    timeout connect 1s
    timeout client 10s
    timeout server 10s
frontend web
    bind unix@${directory}/web.sock accept-proxy
    unique-id-format %[uuid()]
    option http-buffer-request
    tcp-request content set-var(txn.check.before) str(set-before)
    filter spoe engine check config ${directory}/spoe.cfg
    http-request return status 503 hdr x-error %[var(txn.check.error)] unless { var(txn.check.verdict) -m found }
    http-request return status 200 hdr x-verdict %[var(txn.check.verdict)] hdr x-before %[var(txn.check.before)] hdr x-session %[var(sess.check.n)] hdr x-request %[var(req.check.flag)] hdr x-ip4 %[var(txn.check.ip4)] hdr x-ip6 %[var(txn.check.ip6)] hdr x-binary %[var(txn.check.binary),hex] hdr x-id %[unique-id]
backend agents
    mode ${isMux ? 'spop' : 'tcp'}
    option spop-check
    option redispatch 1
    timeout server 1m
    timeout check 5s
${servers.map((path, i) => `    server agent${i} unix@${path} check inter 100ms fall 1 rise 1`).join('\n')}
`;

export type HaproxyOptions = {
  /** Unix sockets of the agents. */
  servers: readonly string[];
  args?: string;
  agentOptions?: string;
};

/** A directory for the sockets of a test, and a real HAProxy that asks the agents on them about every request. */
export const createTestBed = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'spop-haproxy-'));
  const isMux = hasSpopMux(await haproxyVersion());
  const children: ChildProcess[] = [];
  const output: string[] = [];
  const clients = new Map<string, Agent>();

  /** Connections that begin with the same proxy line are shared. */
  const clientFor = (proxyLine: string): Agent => {
    const client = clients.get(proxyLine) ?? new Agent({ keepAlive: true, maxSockets: 64 });
    client.createConnection = () => {
      const socket = connect(join(directory, 'web.sock'));
      socket.write(proxyLine);
      return socket;
    };
    clients.set(proxyLine, client);
    return client;
  };

  const spawnHaproxy = (...extra: string[]) => {
    const child = spawn(BINARY, ['-db', '-f', join(directory, 'haproxy.cfg'), ...extra], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => output.push(String(text)));
    return child;
  };

  const admin = (command: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(join(directory, 'admin.sock'));
      let answer = '';
      socket.on('data', (text) => {
        answer += text;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(answer));
      socket.end(`${command}\n`);
    });

  const request = (options: RequestOptions = {}, triesLeft = 20): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { method = 'GET', path = '/', headers = {}, body, proxyLine = FROM_IPV4 } = options;
      const call = httpRequest(
        {
          method,
          path,
          headers: { host: 'example.test', ...headers },
          agent: clientFor(proxyLine),
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(chunks).toString(),
            }),
          );
        },
      );
      call.on('error', (error: NodeJS.ErrnoException) => {
        // A process that stops closes connections that carry no request yet, at any moment; clients then ask anew.
        const isClosed = error.code === 'EPIPE' || error.code === 'ECONNRESET';
        if (isClosed && triesLeft > 0) resolve(request(options, triesLeft - 1));
        else reject(error);
      });
      call.end(body);
    });

  return {
    directory,
    isMux,
    output,
    socketPath: (name: string) => join(directory, `${name}.sock`),
    request,
    admin,

    async startHaproxy({ servers, args = ALL_ARGUMENTS, agentOptions = '' }: HaproxyOptions) {
      await writeFile(join(directory, 'spoe.cfg'), spoeConfig(isMux, args, agentOptions));
      await writeFile(join(directory, 'haproxy.cfg'), mainConfig(directory, isMux, servers));
      const child = spawnHaproxy();
      await until('HAProxy answers', async () => {
        if (hasExited(child)) throw new Error(`HAProxy did not start: ${output.join('')}`);
        return (await canConnect(join(directory, 'web.sock'))) || undefined;
      });
      return child;
    },

    /** Starts a new process that takes over the listeners; the old one finishes what it has. */
    async reload() {
      const old = children.at(-1);
      if (old?.pid === undefined) throw new Error('nothing to reload');
      spawnHaproxy('-x', join(directory, 'admin.sock'), '-sf', String(old.pid));
      await exitOf(old);
    },

    /** Waits until HAProxy's health checks see agent `index` as told. */
    untilAgent: (index: number, state: 'UP' | 'DOWN') =>
      until(`agent${index} is ${state}`, async () => {
        const line = (await admin('show stat')).split('\n').find((row) => row.startsWith(`agents,agent${index},`));
        return line?.split(',')[17] === state || undefined;
      }),

    async close() {
      for (const client of clients.values()) client.destroy();
      for (const child of children) if (!hasExited(child)) child.kill('SIGKILL');
      await Promise.all(children.map(exitOf));
      await rm(directory, { recursive: true });
    },
  };
};

export type TestBed = Awaited<ReturnType<typeof createTestBed>>;
