/**
 * Management API: requests/s of a single read and time of a list of 10,000 hosts, on SQLite.
 * Run: npm run bench:api (needs wrk). Prints one line a figure.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROXY_HOST_DEFAULTS } from '@sallyport/contract';
import { proxyHostStore } from '@sallyport/server/testing/parts';
import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { freePorts } from '../support/free-ports.ts';

const HOSTS = 10_000;
const LIST_RUNS = 21;
const WRK_SECONDS = 5;
const WRK_RUNS = 3;

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const fill = async (dataDir: string): Promise<string> => {
  const database = openDatabase({ dataDir, databaseUrl: undefined });
  await migrate(database);
  const now = new Date().toISOString();
  let uuid = '';
  await database.transact(async (tx) => {
    const hosts = proxyHostStore(tx);
    for (let index = 0; index < HOSTS; index++) {
      const domain = `host-${index}.example.com`;
      uuid = randomUUID();
      const fields = { ...PROXY_HOST_DEFAULTS, domain, forward_host: '127.0.0.1', forward_port: 9_000 };
      await hosts.insert({ ...fields, uuid, created_at: now, updated_at: now }, [domain]);
    }
  });
  await database.stop();
  return uuid;
};

const untilHealthy = async (api: string): Promise<void> => {
  for (;;) {
    const isUp = await fetch(`${api}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const requestsPerSecond = (url: string): number => {
  const output = execFileSync('wrk', ['-t1', '-c16', `-d${WRK_SECONDS}`, url], { encoding: 'utf8' });
  if (/Non-2xx/.test(output)) throw new Error(`wrk got errors: ${output}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]);
};

const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
const [port = 0] = await freePorts(1);
const uuid = await fill(dataDir);
const main = fileURLToPath(new URL('../../apps/server/src/main.ts', import.meta.url));
const server = spawn(process.execPath, [main], {
  env: { PATH: process.env.PATH, SALLYPORT_DATA_DIR: dataDir, SALLYPORT_HTTP_BIND: `127.0.0.1:${port}` },
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  const api = `http://127.0.0.1:${port}/api/v1`;
  await untilHealthy(api);
  requestsPerSecond(`${api}/proxy-hosts/${uuid}`);
  const rates = Array.from({ length: WRK_RUNS }, () => requestsPerSecond(`${api}/proxy-hosts/${uuid}`));
  console.log(`GET /proxy-hosts/:uuid, 16 connections: ${median(rates).toFixed(0)} requests/s (median of ${WRK_RUNS})`);
  const times: number[] = [];
  for (let run = 0; run < LIST_RUNS; run++) {
    const start = performance.now();
    const list = (await (await fetch(`${api}/proxy-hosts`)).text()).length;
    times.push(performance.now() - start);
    if (run === 0) console.log(`GET /proxy-hosts: ${HOSTS} hosts, ${(list / 1e6).toFixed(1)} MB`);
  }
  console.log(`GET /proxy-hosts: ${median(times).toFixed(0)} ms (median of ${LIST_RUNS})`);
} finally {
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  rmSync(dataDir, { recursive: true, force: true });
}
