/**
 * What SPOE costs: CPU of HAProxy and of the agent for each request, with and without the filter, from wrk.
 * Usage: node packages/spop/bench/bench.ts [seconds] [connections]; HAPROXY_BIN names another HAProxy, PORT another port.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Counters } from '../src/index.ts';
import { haproxyVersion, hasSpopMux } from '../test/haproxy.ts';

const seconds = Number(process.argv[2] ?? 5);
const connections = Number(process.argv[3] ?? 64);
const port = Number(process.env.PORT ?? 24000);
const binary = process.env.HAPROXY_BIN ?? 'haproxy';
// The kernel counts a process's time in hundredths of a second (USER_HZ).
const TICK_MICROSECONDS = 10_000;

const HEADERS = [
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'Accept-Language: en-GB,en;q=0.9,de;q=0.8',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Cookie: session=0123456789abcdef0123456789abcdef; theme=dark; consent=yes',
  'Cache-Control: no-cache',
];

type Report = Counters & { cpuMicroseconds: number };
const version = await haproxyVersion();
const isMux = hasSpopMux(version);
const directory = await mkdtemp(join(tmpdir(), 'spop-bench-'));
const socket = join(directory, 'agent.sock');

const config = (filter: string) => `
global
    nbthread 1
    maxconn 4000
defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 30s
frontend web
    bind 127.0.0.1:${port}
    unique-id-format %[uuid()]
    ${filter}
    http-request return status 200 content-type text/plain string ok
backend agents
    mode ${isMux ? 'spop' : 'tcp'}
    option spop-check
    timeout server 1m
    timeout check 5s
    server agent unix@${socket} check
`;

const spoe = (args: string) => `
[check]
spoe-agent check-agent
    messages check-request
    option var-prefix check
    ${isMux ? '' : 'timeout hello 2s\n    timeout idle 1m'}
    timeout processing 1s
    use-backend agents
spoe-message check-request
    args ${args}
    event on-frontend-http-request
`;

const cpuOf = async (pid: number): Promise<number> => {
  const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS;
};

const exit = (child: ChildProcess) => new Promise<void>((resolve) => child.once('exit', () => resolve()));

const reportOf = (child: ChildProcess) =>
  new Promise<Report>((resolve) => {
    child.once('message', (report) => resolve(report as Report));
    child.send('report');
  });

const wrk = async (duration: number): Promise<string> => {
  const headers = HEADERS.flatMap((header) => ['-H', header]);
  const url = `http://127.0.0.1:${port}/products/42/reviews?page=3&sort=newest`;
  const child = spawn('wrk', ['-t1', `-c${connections}`, `-d${duration}s`, '--latency', ...headers, url]);
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  await exit(child);
  return output;
};

const measure = async (title: string, filter: string, args: string) => {
  await writeFile(join(directory, 'haproxy.cfg'), config(filter));
  await writeFile(join(directory, 'spoe.cfg'), spoe(args));
  const agent = fork(new URL('../test/agent-process.ts', import.meta.url), [socket, 'allow']);
  await new Promise((resolve) => agent.once('message', resolve));
  const haproxy = spawn(binary, ['-db', '-f', join(directory, 'haproxy.cfg')], { stdio: 'ignore' });
  try {
    await delay(1_000);
    await wrk(1);
    const [haproxyBefore, agentBefore] = [await cpuOf(haproxy.pid ?? 0), await reportOf(agent)];
    const output = await wrk(seconds);
    const [haproxyAfter, agentAfter] = [await cpuOf(haproxy.pid ?? 0), await reportOf(agent)];
    const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
    const judged = agentAfter.notifies - agentBefore.notifies;
    const result = {
      requests,
      judged,
      rate: requests / seconds,
      haproxy: (haproxyAfter - haproxyBefore) / requests,
      agent: judged === 0 ? 0 : (agentAfter.cpuMicroseconds - agentBefore.cpuMicroseconds) / judged,
      connections: agentAfter.connections,
      p99: /99%\s+(\S+)/.exec(output)?.[1] ?? '?',
      refused: /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? '0',
    };
    process.stdout.write(
      `${title.padEnd(34)} ${String(Math.round(result.rate)).padStart(7)}/s  HAProxy ${result.haproxy.toFixed(1).padStart(5)} µs  ` +
        `agent ${result.agent.toFixed(1).padStart(5)} µs  p99 ${result.p99.padStart(8)}  ` +
        `${judged} judged of ${requests}, ${result.refused} refused, ${result.connections} connections\n`,
    );
    return result;
  } finally {
    haproxy.kill('SIGKILL');
    agent.kill('SIGKILL');
    await Promise.all([exit(haproxy), exit(agent)]);
  }
};

try {
  process.stdout.write(
    `HAProxy ${version.major}.${version.minor}, 1 thread, ${connections} clients, CPU per request\n`,
  );
  const spoeLine = `filter spoe engine check config ${directory}/spoe.cfg`;
  const plain = await measure('without SPOE', '', 'path=path');
  const small = await measure('with SPOE, path only', spoeLine, 'path=path');
  const whole = await measure(
    'with SPOE, all a WAF needs',
    spoeLine,
    'id=unique-id src=src method=method path=path query=query version=req.ver headers=req.hdrs_bin body=req.body',
  );
  for (const [name, result] of [
    ['path only', small],
    ['all a WAF needs', whole],
  ] as const) {
    const added = result.haproxy - plain.haproxy;
    process.stdout.write(`SPOE adds, ${name}: HAProxy ${added.toFixed(1)} µs + agent ${result.agent.toFixed(1)} µs\n`);
  }
} finally {
  await rm(directory, { recursive: true });
}
