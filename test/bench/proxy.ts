/**
 * CPU per proxied request, side by side in one run: Sallyport's data plane, nginx and Caddy from Debian, and a bare
 * one-backend HAProxy as the floor. Plain HTTP/1.1 keep-alive (64 connections) and HTTP/2 over TLS, small answers.
 * nginx runs four times: with the access log that Debian's nginx.conf switches on, without it, without it and with more of
 * the work that we do (the host looked up, the same headers, bans), and as managers of nginx write its hosts: three variables
 * for the origin, so a connection for each request. The other three keep connections to their origin.
 *
 * node test/bench/proxy.ts [rounds]; needs haproxy, nginx, caddy, wrk, h2load. Loopback ports 22030-22043.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createDataPlane, dataPlaneFiles, defaultSettings, writeStaticFiles } from '@sallyport/haproxy';
import { enforceNothing } from '../support/haproxy/enforce-nothing.ts';
import { givenHost } from '../support/haproxy/given.ts';

const rounds = Number(process.argv[2] ?? 5);
const originPort = 22_030;
const hostName = 'app.example.com';
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

type Peer = { name: string; version: string; process: ChildProcess; http: number; https: number | null };

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const versionOf = (command: string, args: string[], pattern: RegExp): string =>
  pattern.exec(execFileSync('sh', ['-c', `${command} ${args.join(' ')} 2>&1`], { encoding: 'utf8' }))?.[1] ?? 'unknown';

const directory = await mkdtemp(join(tmpdir(), 'sp-bench-proxy-'));
const inDirectory = (...parts: string[]): string => join(directory, ...parts);
const start = (command: string, args: string[]): ChildProcess =>
  spawn(command, args, {
    stdio: 'ignore',
    env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
  });

const untilListening = async (port: number): Promise<void> => {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('connect', () => socket.destroy());
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await delay(20);
  }
};

const nginxConfig = (http: string, workers: string, accessLog: string, pidFile: string): string => `
worker_processes ${workers}; daemon off; error_log stderr crit; pid ${inDirectory(pidFile)};
events { worker_connections 4096; }
http { access_log ${accessLog}; keepalive_requests 1000000000; client_body_temp_path ${directory}; proxy_temp_path ${directory};
fastcgi_temp_path ${directory}; uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
${http} }
`;

const certificate = inDirectory('data', dataPlaneFiles.defaultCertificate);

const startOrigin = async (): Promise<ChildProcess> => {
  const config = inDirectory('origin.conf');
  await writeFile(
    config,
    nginxConfig(
      `server { listen 127.0.0.1:${originPort}; location / { return 200 "hello, world\\n"; } }`,
      '1',
      'off',
      'origin.pid',
    ),
  );
  return start('nginx', ['-c', config]);
};

type NginxHost = { name: string; ports: [number, number]; accessLog: string; before?: string; location: string };

const usualHeaders = `proxy_set_header Host $host; proxy_set_header X-Real-IP $remote_addr;
proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme;`;

const keptConnections = 'proxy_http_version 1.1; proxy_set_header Connection "";';

const nginxHosts: readonly NginxHost[] = [
  {
    name: 'nginx',
    ports: [22_031, 22_032],
    accessLog: inDirectory('access.log'),
    location: `proxy_pass http://origin; ${keptConnections} ${usualHeaders}`,
  },
  {
    name: 'nginx without its log',
    ports: [22_038, 22_039],
    accessLog: 'off',
    location: `proxy_pass http://origin; ${keptConnections} ${usualHeaders}`,
  },
  {
    name: 'nginx with the same headers and look-ups, no log',
    ports: [22_040, 22_041],
    accessLog: 'off',
    before: `map $host $origin_of { hostnames; default ""; ${hostName} origin; }
geo $banned { default 0; 192.0.2.0/24 1; }`,
    location: `if ($banned) { return 403; } if ($origin_of = "") { return 404; }
proxy_pass http://$origin_of; ${keptConnections} proxy_set_header Host $http_host; proxy_set_header X-Real-IP $remote_addr;
proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $http_host;
proxy_set_header X-Forwarded-Port $server_port; proxy_set_header X-Proxied-By "0123456789abcdef.1"; proxy_set_header Forwarded "";`,
  },
  {
    name: 'nginx as its managers write it',
    ports: [22_042, 22_043],
    accessLog: inDirectory('managed.log'),
    location: `set $forward_scheme http; set $server 127.0.0.1; set $port ${originPort};
proxy_pass $forward_scheme://$server:$port$request_uri; ${usualHeaders} proxy_set_header X-Forwarded-Scheme $scheme; add_header X-Served-By $host;`,
  },
];

const startNginx = async ({ name, ports: [http, https], accessLog, before, location }: NginxHost): Promise<Peer> => {
  const config = inDirectory(`nginx-${http}.conf`);
  await writeFile(
    config,
    nginxConfig(
      `upstream origin { server 127.0.0.1:${originPort}; keepalive 64; keepalive_requests 1000000000; }
${before ?? ''}
server { listen 127.0.0.1:${http}; listen 127.0.0.1:${https} ssl http2; server_name ${hostName};
ssl_certificate ${certificate}; ssl_certificate_key ${certificate};
location / { ${location} } }`,
      'auto',
      accessLog,
      `nginx-${http}.pid`,
    ),
  );
  return {
    name,
    version: versionOf('nginx', ['-v'], /nginx\/(\S+)/),
    process: start('nginx', ['-c', config]),
    http,
    https,
  };
};

const startCaddy = async (): Promise<Peer> => {
  const [http, https] = [22_033, 22_034];
  const config = inDirectory('Caddyfile');
  await writeFile(
    config,
    `{\nadmin off\nauto_https off\n}\nhttp://${hostName}:${http} {\nbind 127.0.0.1\nreverse_proxy 127.0.0.1:${originPort}\n}\n` +
      `https://${hostName}:${https} {\nbind 127.0.0.1\ntls ${certificate} ${certificate}\nreverse_proxy 127.0.0.1:${originPort}\n}\n`,
  );
  return {
    name: 'Caddy',
    version: versionOf('caddy', ['version'], /v?(\d\S*)/),
    process: start('caddy', ['run', '--config', config, '--adapter', 'caddyfile']),
    http,
    https,
  };
};

const startBareHaproxy = async (): Promise<Peer> => {
  const http = 22_035;
  const config = inDirectory('bare.cfg');
  await writeFile(
    config,
    `defaults\n  mode http\n  maxconn 2000\n  timeout client 60s\n  timeout server 60s\n  timeout connect 5s\n` +
      `frontend f\n  bind 127.0.0.1:${http}\n  default_backend b\nbackend b\n  server o 127.0.0.1:${originPort}\n`,
  );
  return {
    name: 'bare HAProxy',
    version: haproxyVersion,
    process: start('haproxy', ['-f', config]),
    http,
    https: null,
  };
};

const haproxyVersion = versionOf('haproxy', ['-v'], /version (\S+)/);

const startSallyport = async (): Promise<Peer & { stop(): Promise<void> }> => {
  const [http, https] = [22_036, 22_037];
  const data = inDirectory('data');
  const adminSocket = join(data, 'admin.sock');
  await mkdir(data, { recursive: true });
  await writeStaticFiles(data, {
    ...defaultSettings,
    http: [{ address: '127.0.0.1', port: http }],
    https: [{ address: '127.0.0.1', port: https }],
    adminSocket,
    maxConnections: 2_000,
  });
  enforceNothing(data);
  const dataPlane = createDataPlane({ directory: data, adminSocket });
  const host = givenHost({ names: [hostName], origin: { port: originPort } });
  await dataPlane.reconcile({ hosts: [host], certificates: [] });
  const child = start('haproxy', ['-f', join(data, dataPlaneFiles.config)]);
  return { name: 'Sallyport', version: haproxyVersion, process: child, http, https, stop: () => dataPlane.stop() };
};

/** CPU seconds of a process and its children, user and kernel. */
const cpuSeconds = async (pid: number): Promise<number> => {
  const pids = [pid];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === pid) pids.push(Number(entry));
    } catch {
      // It ended meanwhile.
    }
  }
  let ticks = 0;
  for (const each of pids) {
    const stat = readFileSync(`/proc/${each}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks / ticksPerSecond;
};

const run = (command: string, args: string[]): Promise<string> => {
  const child = spawn('timeout', ['60', command, ...args]);
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  return new Promise((resolve, reject) =>
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${code}: is it installed?`));
    }),
  );
};

type Sample = { cpuMicroseconds: number; requestsPerSecond: number; p99Ms: number; failed: number };

const milliseconds = (text: string): number => {
  const [, number = '0', unit = 'ms'] = /([\d.]+)(us|ms|s)/.exec(text) ?? [];
  return Number(number) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's'];
};

const http1 = async (port: number): Promise<Omit<Sample, 'cpuMicroseconds'> & { requests: number }> => {
  const output = await run('wrk', [
    '-c64',
    '-t1',
    '-d3',
    '--latency',
    '-H',
    `Host: ${hostName}`,
    `http://127.0.0.1:${port}/`,
  ]);
  return {
    requests: Number(/(\d+) requests in/.exec(output)?.[1]),
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    p99Ms: milliseconds(/99%\s+(\S+)/.exec(output)?.[1] ?? ''),
    failed: Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0),
  };
};

const http2 = async (port: number): Promise<Omit<Sample, 'cpuMicroseconds'> & { requests: number }> => {
  const log = inDirectory('h2load.log');
  const requests = 60_000;
  const output = await run('h2load', [
    '-c16',
    '-m4',
    '-t1',
    `-n${requests}`,
    `--log-file=${log}`,
    `--connect-to=127.0.0.1:${port}`,
    `https://${hostName}/`,
  ]);
  const durations = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((row) => Number(row.split('\t')[2]));
  await rm(log);
  durations.sort((a, b) => a - b);
  return {
    requests,
    requestsPerSecond: Number(/finished in \S+ ([\d.]+) req\/s/.exec(output)?.[1]),
    p99Ms: (durations[Math.floor(durations.length * 0.99)] ?? 0) / 1000,
    failed: requests - Number(/(\d+) 2xx/.exec(output)?.[1] ?? 0),
  };
};

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const compare = async (
  title: string,
  peers: Peer[],
  portOf: (peer: Peer) => number,
  load: typeof http1,
): Promise<void> => {
  const samples = new Map<Peer, Sample[]>(peers.map((peer) => [peer, []]));
  for (const peer of peers) await load(portOf(peer));
  for (let round = 0; round < rounds; round++) {
    // In turns, so that whatever else the machine does meets all of them.
    for (const peer of peers) {
      const before = await cpuSeconds(peer.process.pid ?? 0);
      const result = await load(portOf(peer));
      const used = (await cpuSeconds(peer.process.pid ?? 0)) - before;
      samples.get(peer)?.push({ ...result, cpuMicroseconds: (used * 1e6) / result.requests });
    }
  }
  const of = (peer: Peer, field: keyof Sample): number[] => (samples.get(peer) ?? []).map((sample) => sample[field]);
  const ours = peers.find(({ name }) => name === 'Sallyport') as Peer;
  say(`\n${title} (median of ${rounds})\n`);
  say('| proxy | version | CPU per request | ours / theirs | requests/s | p99 | failed |');
  say('|---|---|---|---|---|---|---|');
  for (const peer of peers) {
    const theirs = of(peer, 'cpuMicroseconds');
    const ratio = median(of(ours, 'cpuMicroseconds').map((value, round) => value / (theirs[round] ?? Number.NaN)));
    say(
      `| ${peer.name} | ${peer.version} | ${median(theirs).toFixed(1)} µs | ${ratio.toFixed(2)} | ${median(of(peer, 'requestsPerSecond')).toFixed(0)} ` +
        `| ${median(of(peer, 'p99Ms')).toFixed(1)} ms | ${of(peer, 'failed').reduce((sum, value) => sum + value, 0)} |`,
    );
  }
};

const sallyport = await startSallyport();
const origin = await startOrigin();
const peers = [
  sallyport,
  ...(await Promise.all(nginxHosts.map(startNginx))),
  await startCaddy(),
  await startBareHaproxy(),
];
try {
  for (const port of [originPort, ...peers.flatMap(({ http, https }) => (https === null ? [http] : [http, https]))])
    await untilListening(port);
  say(`${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  await compare('HTTP/1.1, 64 keep-alive connections', peers, ({ http }) => http, http1);
  await compare(
    'HTTP/2 over TLS, 16 connections × 4 streams',
    peers.filter(({ https }) => https !== null),
    ({ https }) => https ?? 0,
    http2,
  );
} finally {
  await sallyport.stop();
  for (const { process: child } of peers) child.kill('SIGTERM');
  origin.kill('SIGTERM');
  await Promise.all(
    [...peers.map(({ process: child }) => child), origin].map(
      (child) => new Promise((resolve) => child.once('exit', resolve)),
    ),
  );
  await rm(directory, { recursive: true });
}
