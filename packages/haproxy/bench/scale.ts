/**
 * Driver-level figures with many hosts: load, memory, latency of one change, and the traffic's latency meanwhile.
 * node packages/haproxy/bench/scale.ts [hosts] [changes]; needs haproxy and h2load. Ports 22020-22022, loopback.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enforceNothing } from '../../../test/support/haproxy/enforce-nothing.ts';
import { defaultFlags, plainOrigin } from '../../../test/support/haproxy/given.ts';
import { createDataPlane, type DesiredHost, dataPlaneFiles, defaultSettings, writeStaticFiles } from '../src/index.ts';

const hostCount = Number(process.argv[2] ?? 100_000);
const changeCount = Number(process.argv[3] ?? 1_500);
const [httpPort, httpsPort, originPort] = [22_020, 22_021, 22_022];

const host = (index: number, port: number = originPort): DesiredHost => ({
  id: index,
  names: [`host${index}.customer${index % 977}.example.com`],
  origin: { ...plainOrigin, port },
  flags: defaultFlags,
  certificate: null,
});

const quantiles = (values: number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
};
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const rssMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

/** A steady 2,000 requests/s over 16 keep-alive connections; returns what came of them. */
const traffic = async (hostName: string, seconds: number): Promise<string> => {
  const log = join(directory, 'traffic.log');
  const options = ['--h1', '-c16', '-t1', '--rps=125', `-n${seconds * 2_000}`, `--log-file=${log}`];
  const connectTo = `--connect-to=127.0.0.1:${httpPort}`;
  const child = spawn('h2load', [...options, connectTo, `http://${hostName}/`], { stdio: 'ignore' });
  await new Promise((resolve) => child.on('exit', resolve));
  // One line a request: start in microseconds, status, duration in microseconds.
  const rows = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((row) => row.split('\t').map(Number));
  const failed = rows.filter(([, status]) => status !== 200).length;
  await rm(log);
  return `${rows.length} requests, ${failed} failed, ${quantiles(rows.map(([, , duration = 0]) => duration / 1000))}`;
};

const directory = await mkdtemp(join(tmpdir(), 'sp-bench-'));
// A process of its own: in this one the traffic would wait for the driver, and the driver for the traffic.
const origin = spawn(
  process.execPath,
  ['-e', `require('node:http').createServer((q, a) => a.end('hello, world')).listen(${originPort}, '127.0.0.1')`],
  { stdio: 'ignore' },
);
await writeStaticFiles(directory, {
  ...defaultSettings,
  http: [{ address: '127.0.0.1', port: httpPort }],
  https: [{ address: '127.0.0.1', port: httpsPort }],
  adminSocket: join(directory, 'admin.sock'),
  maxConnections: 2_000,
});
enforceNothing(directory);

const hosts = Array.from({ length: hostCount }, (_, index) => host(index));
let onConnected = (_pid: number): void => {};
const connected = new Promise<number>((resolve) => {
  onConnected = resolve;
});
const dataPlane = createDataPlane({
  directory,
  adminSocket: join(directory, 'admin.sock'),
  onEvent(event) {
    if (event.type === 'connected') onConnected(event.pid);
    else say(JSON.stringify(event, (_key, value) => (value instanceof Error ? value.message : value)));
  },
});
let startedAt = performance.now();
await dataPlane.reconcile({ hosts, certificates: [] });
say(`${hostCount} hosts: files written in ${(performance.now() - startedAt).toFixed(0)} ms`);
startedAt = performance.now();
const haproxy = spawn('/usr/sbin/haproxy', ['-W', '-f', join(directory, dataPlaneFiles.config)], { stdio: 'ignore' });
const pid = await connected;
say(
  `HAProxy up and read back in ${(performance.now() - startedAt).toFixed(0)} ms; worker ${rssMegabytes(pid).toFixed(1)} MB`,
);
const last = hosts.at(-1) as DesiredHost;
say(`traffic alone: ${await traffic(last.names[0] as string, 4)}`);

const trafficMeanwhile = traffic(last.names[0] as string, 20);
const durations: Record<'create' | 'update' | 'delete', number[]> = { create: [], update: [], delete: [] };
let memory = 0;
let overlay = 0;
for (let change = 0; change < changeCount; change++) {
  const kind = (['create', 'update', 'delete'] as const)[change % 3] ?? 'create';
  const index = (change * 7_919) % (hostCount - 1);
  const began = performance.now();
  const outcomes =
    kind === 'create'
      ? await dataPlane.applyHosts([{ type: 'put', host: host(hostCount + change) }])
      : kind === 'update'
        ? await dataPlane.applyHosts([
            { type: 'put', host: { ...host(index), flags: { ...host(index).flags, websocket_support: true } } },
          ])
        : await dataPlane.applyHosts([{ type: 'remove', id: index }]);
  durations[kind].push(performance.now() - began);
  for (const outcome of outcomes.values()) if (!outcome.applied) throw new Error(outcome.issue);
  memory = Math.max(memory, rssMegabytes(pid));
  overlay = Math.max(overlay, dataPlane.status().overlayEntries);
  await new Promise((resolve) => setTimeout(resolve, 8));
}
for (const [kind, values] of Object.entries(durations)) say(`${kind}: ${quantiles(values)}`);
say(`traffic meanwhile: ${await trafficMeanwhile}`);
say(`overlay at most ${overlay} entries; HAProxy at most ${memory.toFixed(1)} MB`);

startedAt = performance.now();
const report = await dataPlane.reconcile({ hosts, certificates: [] });
say(
  `full reconcile back to the first state: ${(performance.now() - startedAt).toFixed(0)} ms, ${report.changedNames} names changed`,
);
startedAt = performance.now();
await dataPlane.reconcile({ hosts, certificates: [] });
say(`full reconcile without a difference: ${(performance.now() - startedAt).toFixed(0)} ms`);
await new Promise((resolve) => setTimeout(resolve, 3_000));
say(
  `HAProxy afterwards ${rssMegabytes(pid).toFixed(1)} MB; this process ${(process.memoryUsage().rss / 1048576).toFixed(0)} MB`,
);

await dataPlane.stop();
haproxy.kill('SIGTERM');
origin.kill();
await rm(directory, { recursive: true });
