/**
 * The whole product with many hosts: start to serving, HAProxy's memory, API call → live through the proxy (durable commit
 * included), and whether the last of many hosts is served as fast as an only one.
 *
 * node test/bench/scale.ts [hosts] [changes]; needs haproxy, wrk and h2load. Loopback ports 22040-22043.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createProduct, type Product } from '../support/product.ts';
import { domainOf, fillStore } from './many-hosts.ts';

// As bin/up does: Node keeps what it compiled, for all processes of the product.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url));

const hostCount = Number(process.argv[2] ?? 100_000);
const changeCount = Number(process.argv[3] ?? 600);
const pauseMs = 10;
const [api, http, https, originPort] = [22_040, 22_041, 22_042, 22_043];

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const quantiles = (values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`;
};

const requestsPerSecond = (domain: string): number => {
  const output = execFileSync('wrk', ['-t1', '-c64', '-d4', '-H', `Host: ${domain}`, `http://127.0.0.1:${http}/`], {
    encoding: 'utf8',
  });
  if (/Non-2xx/.test(output)) throw new Error(`wrk got errors: ${output}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
};

/** A steady 500 requests/s on 10 connections until stopped; returns what came of them. */
const startTraffic = (domain: string, dataDir: string): (() => Promise<string>) => {
  const log = join(dataDir, 'traffic.log');
  const options = [
    '--h1',
    '-c10',
    '-t1',
    '--rps=50',
    '-n1000000',
    `--log-file=${log}`,
    `--connect-to=127.0.0.1:${http}`,
  ];
  const child = spawn('timeout', ['-s', 'INT', '300', 'h2load', ...options, `http://${domain}/`], { stdio: 'ignore' });
  return async () => {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    // The last line may be cut.
    const rows = readFileSync(log, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((row) => row.split('\t').map(Number));
    const failed = rows.filter(([, status]) => status !== 200).length;
    return `${rows.length} requests, ${failed} failed, ${quantiles(rows.map(([, , duration = 0]) => duration / 1000))}`;
  };
};

const agent = new Agent({ keepAlive: true });
const statusOf = (domain: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ port: http, agent, headers: { host: domain } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });

const call = async (method: string, path: string, body?: object): Promise<{ uuid: string; applied: boolean }> => {
  const response = await fetch(`http://127.0.0.1:${api}/api/v1${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.status === 204
    ? { uuid: '', applied: true }
    : ((await response.json()) as { uuid: string; applied: boolean });
};

/** From the API call to the first request that is served as the call asked. */
const measureChanges = async (uuids: readonly string[]): Promise<Map<string, number[]>> => {
  const durations = new Map<string, number[]>([
    ['create', []],
    ['update', []],
    ['delete', []],
  ]);
  const measure = async (
    kind: string,
    domain: string,
    expected: number,
    change: () => Promise<unknown>,
  ): Promise<void> => {
    const began = performance.now();
    await change();
    const status = await statusOf(domain);
    durations.get(kind)?.push(performance.now() - began);
    if (status !== expected) throw new Error(`${kind} of ${domain}: answered, but a request got ${status}`);
    await setTimeout(pauseMs);
  };
  for (let change = 0; change < changeCount; change += 3) {
    const index = (change * 7_919) % (hostCount - 1);
    const fresh = `fresh-${change}.example.com`;
    await measure('create', fresh, 200, () =>
      call('POST', '/proxy-hosts', { domain: fresh, forward_host: '127.0.0.1', forward_port: originPort }),
    );
    await measure('update', domainOf(index), 404, () =>
      call('PUT', `/proxy-hosts/${uuids[index]}`, { enabled: false }),
    );
    await measure('delete', domainOf(index + 1), 404, () => call('DELETE', `/proxy-hosts/${uuids[index + 1]}`));
  }
  return durations;
};

const workerMegabytes = (product: Product): string => {
  const status = readFileSync(`/proc/${product.pids()['haproxy worker']}/status`, 'utf8');
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024).toFixed(0);
};

const withProduct = async (
  count: number,
  use: (product: Product, uuids: string[], began: number) => Promise<void>,
): Promise<void> => {
  const product = createProduct({ api, http, https });
  try {
    const uuids = await fillStore(product.dataDir, { count, originPort });
    const began = performance.now();
    await product.start();
    say(`${count} hosts: start to serving ${(performance.now() - began).toFixed(0)} ms`);
    await use(product, uuids, began);
    await product.stop('SIGTERM');
  } finally {
    await product.remove();
  }
};

const origin = spawn(
  process.execPath,
  ['-e', `require('node:http').createServer((q, a) => a.end('hello, world')).listen(${originPort}, '127.0.0.1')`],
  { stdio: 'ignore' },
);
const trafficDir = join('/tmp', `sallyport-scale-${process.pid}`);
mkdirSync(trafficDir);
try {
  say(`${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  let single = 0;
  await withProduct(1, async () => {
    requestsPerSecond(domainOf(0));
    single = requestsPerSecond(domainOf(0));
    say(`the only host: ${single.toFixed(0)} requests/s`);
  });
  await withProduct(hostCount, async (product, uuids, began) => {
    const last = domainOf(hostCount - 1);
    const sayRate = (when: string): void => {
      const rate = requestsPerSecond(last);
      say(
        `the last of ${hostCount} hosts, ${when}: ${rate.toFixed(0)} requests/s, ${((rate / single) * 100).toFixed(0)} %`,
      );
    };
    sayRate('at once');
    // Until then the server compares what HAProxy holds with the store, on the same cores.
    while (!(await call('GET', `/proxy-hosts/${uuids[hostCount - 1]}`)).applied) await setTimeout(100);
    say(`everything compared ${(performance.now() - began).toFixed(0)} ms after the start`);
    requestsPerSecond(last);
    sayRate('after that');
    say(`HAProxy ${workerMegabytes(product)} MB`);
    const stopTraffic = startTraffic(last, trafficDir);
    for (const [kind, values] of await measureChanges(uuids)) say(`${kind}, call to live: ${quantiles(values)}`);
    say(`traffic meanwhile: ${await stopTraffic()}`);
    say(`HAProxy afterwards ${workerMegabytes(product)} MB`);
  });
} finally {
  agent.destroy();
  origin.kill();
  rmSync(trafficDir, { recursive: true });
}
