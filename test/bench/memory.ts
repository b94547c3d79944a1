/**
 * Memory of the whole product at rest, process by process: proportional set size (what two processes share counts half
 * for each) with one host and everything off, then with the firewall on, then after some traffic, then with the firewall off
 * again.
 *
 * node test/bench/memory.ts; needs haproxy and modsecurity-crs. Runs on a Node of its own copy, so that what other
 * programs on the machine share with ours doesn't make it look smaller.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SecurityStatus } from '@sallyport/contract';
import { listProcesses } from '@sallyport/deployment/processes';
import { readState } from '@sallyport/deployment/supervisor-state';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { until } from '../support/until.ts';

const HOST = 'shop.example.com';
const REQUESTS = 2_000;
/** Collections that a start leaves behind come within seconds. */
const REST_MS = Number(process.argv[2] ?? 10) * 1_000;
const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' };
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));

interface Memory {
  pss: number;
  anonymous: number;
  file: number;
}

const kilobytes = (text: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);

const memoryOf = (pids: readonly number[]): Memory => {
  const texts = pids.map((pid) => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  const sum = (field: string) => texts.reduce((total, text) => total + kilobytes(text, field), 0) / 1024;
  return { pss: sum('Pss'), anonymous: sum('Pss_Anon'), file: sum('Pss_File') };
};

const processesOf = (product: Product): [string, number[]][] => {
  const children = readState(join(product.dataDir, 'supervisor.json'))?.children ?? [];
  const withChildren = (pid: number) => [
    pid,
    ...listProcesses()
      .filter(({ parentPid }) => parentPid === pid)
      .map((info) => info.pid),
  ];
  return [
    ['supervisor', [product.pids().supervisor]],
    ...children.map(({ name, pid }): [string, number[]] => [name, withChildren(pid)]),
  ];
};

const report = (title: string, product: Product): void => {
  const rows = processesOf(product).map(([name, pids]): [string, Memory] => [name, memoryOf(pids)]);
  const total = rows.reduce((sum, [, { pss }]) => sum + pss, 0);
  say(`\n${title}: ${total.toFixed(0)} MB`);
  for (const [name, { pss, anonymous, file }] of rows) {
    say(`  ${name.padEnd(12)} ${pss.toFixed(1).padStart(6)}  (own ${anonymous.toFixed(1)}, files ${file.toFixed(1)})`);
  }
};

const node = mkdtempSync(join(tmpdir(), 'sallyport-memory-'));
const [api = 0, http = 0, https = 0] = await freePorts(3);
copyFileSync(process.execPath, join(node, 'node'));
process.execPath = join(node, 'node');
// As bin/up does.
process.env.MALLOC_ARENA_MAX ??= '1';
const root = fileURLToPath(new URL('../..', import.meta.url));
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/node');
spawnSync(process.execPath, [join(root, 'bin/lib/compile.mjs'), root, join(node, 'compiled')]);

const product = createProduct({ api, http, https });
const origin = createServer((_request, response) => response.end('hello, world'));
await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
let token: string | undefined;

const { call } = createApiCaller(
  () => product.api,
  () => token,
);

const visit = (path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: http, path, headers: { host: HOST } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    })
      .once('error', reject)
      .end();
  });

try {
  say(`${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores, Node ${process.version}`);
  // Twice: the first start leaves what the second finds compiled.
  await product.start();
  ({ token } = await call<{ token: string }>('POST', '/setup', ADMIN));
  const { port } = origin.address() as AddressInfo;
  await call('POST', '/proxy-hosts', { domain: HOST, forward_host: '127.0.0.1', forward_port: port });
  await product.stop('SIGTERM');
  token = undefined;
  await product.start();
  ({ token } = await call<{ token: string }>('POST', '/auth/login', ADMIN));
  await rest();
  report('everything off, one host', product);

  await call('POST', '/security/config', {
    name: 'default',
    waf_mode: 'block',
    waf_rules_source: 'owasp',
    admin_whitelist: '192.0.2.1',
  });
  for (const key of ['security.waf.enabled', 'feature.guard.enabled']) {
    await call('POST', '/settings', { key, value: 'true' });
  }
  await until(
    'the firewall is on',
    async () => (await call<SecurityStatus>('GET', '/security/status')).applied,
    60_000,
  );
  await rest();
  report('firewall on', product);

  for (let sent = 0; sent < REQUESTS; sent++) {
    const status = await visit(sent % 10 === 0 ? `/?q=${encodeURIComponent("1' or '1'='1")}` : `/page?id=${sent}`);
    if (status !== (sent % 10 === 0 ? 403 : 200)) throw new Error(`request ${sent} got ${status}`);
  }
  await rest();
  report(`firewall on, after ${REQUESTS} requests`, product);

  await call('POST', '/settings', { key: 'security.waf.enabled', value: 'false' });
  await rest();
  report('firewall off again', product);
  await product.stop('SIGTERM');
} finally {
  await product.remove();
  origin.close();
  rmSync(node, { recursive: true });
}
