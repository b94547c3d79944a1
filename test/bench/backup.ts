/**
 * A backup of many hosts and certificates through the API while the proxy serves, with and without a passphrase, and its
 * restore after some of it was changed: how long it takes, what the server spends on it, what becomes of requests meanwhile, and for
 * how long of a restore the proxy answers 503.
 *
 * node test/bench/backup.ts [hosts] [certificates]; needs haproxy and openssl.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApiCaller } from '../support/call-api.ts';
import { makeCertificate, uploadForm } from '../support/certificates.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { until } from '../support/until.ts';
import { domainOf, fillStore } from './many-hosts.ts';

const hostCount = Number(process.argv[2] ?? 100_000);
const certificateCount = Number(process.argv[3] ?? 1_000);
const CHANGED = 1_000;
const PAUSE_MS = 5;
/** USER_HZ of Linux, which is fixed (proc(5)). */
const TICKS_PER_SECOND = 100;
const WANTED_S = { backup: 10, restore: 30 };
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // utime and stime, fields 14 and 15 of the whole line.
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
};

const agent = new Agent({ keepAlive: true });
const statusOf = (port: number, host: string): Promise<number> =>
  new Promise((resolve) => {
    get({ host: '127.0.0.1', port, agent, headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', () => resolve(0));
  });

/** Asks for the last host again and again until stopped; tells how many requests were not answered, and for how long. */
const startAsking = (port: number) => {
  const failed: number[] = [];
  let asked = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      if ((await statusOf(port, domainOf(hostCount - 1))) !== 200) failed.push(performance.now());
      asked += 1;
      await sleep(PAUSE_MS);
    }
  })();
  return async (): Promise<string> => {
    isOver = true;
    await asking;
    const seconds = failed.length === 0 ? 0 : ((failed.at(-1) ?? 0) - (failed[0] ?? 0)) / 1_000;
    return `${asked} requests, ${failed.length} not answered with 200, the last ${seconds.toFixed(1)} s after the first`;
  };
};

const measure = async <T>(product: Product, what: string, wanted: number, work: () => Promise<T>): Promise<T> => {
  const { server, 'haproxy worker': worker } = product.pids();
  const [serverBefore, workerBefore] = [cpuSeconds(server), cpuSeconds(worker)];
  const stop = startAsking(product.ports.http);
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1_000;
  const requests = await stop();
  const spent = `CPU: server ${(cpuSeconds(server) - serverBefore).toFixed(1)} s, HAProxy ${(cpuSeconds(worker) - workerBefore).toFixed(1)} s`;
  const verdict = seconds < wanted ? 'met' : 'NOT MET';
  say(`${what}: ${seconds.toFixed(1)} s (wanted ${wanted}: ${verdict}); ${spent}; load ${loadavg()[0]?.toFixed(1)}`);
  say(`  meanwhile ${requests}`);
  return result;
};

const origin = createServer((_request, response) => response.end('fine')).listen(0, '127.0.0.1');
await once(origin, 'listening');
const [api = 0, http = 0, https = 0] = await freePorts(3);
const product = createProduct({ api, http, https });
try {
  say(`${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  const { port } = origin.address() as AddressInfo;
  const uuids = await fillStore(product.dataDir, { count: hostCount, originPort: port });
  await product.start();
  let token: string | undefined;
  const { call } = createApiCaller(
    () => product.api,
    () => token,
  );
  ({ token } = await call<{ token: string }>('POST', '/setup', { email: 'a@example.com', password: 'correct horse' }));
  const last = uuids.at(-1);
  const isApplied = async () => (await call<{ applied: boolean }>('GET', `/proxy-hosts/${last}`)).applied;
  await until('every host is applied', isApplied, 120_000);
  const pair = makeCertificate(['many.example.com']);
  for (let index = 0; index < certificateCount; index += 1) {
    await call('POST', '/certificates/upload', uploadForm(`certificate ${index}`, pair));
  }
  say(`${hostCount} hosts, ${certificateCount} certificates, one request every ${PAUSE_MS} ms`);

  const backUp = (body: object) => () => call<{ name: string; size: number }>('POST', '/backups', body);
  const { name, size } = await measure(product, 'backup', WANTED_S.backup, backUp({}));
  say(`  ${(size / 1e6).toFixed(1)} MB`);
  await measure(product, 'backup with a passphrase', WANTED_S.backup, backUp({ passphrase: 'three copper lanterns' }));
  const patch = { forward_port: 9 };
  await call('POST', '/proxy-hosts/bulk', { uuids: uuids.slice(0, CHANGED), patch });
  const restore = () => call<{ changes: object }>('POST', `/backups/${name}/restore`, {});
  const { changes } = await measure(product, 'restore', WANTED_S.restore, restore);
  say(`  ${JSON.stringify(changes)}`);
  if ((await statusOf(http, domainOf(0))) !== 200) throw new Error('the restored host is not served');
} finally {
  agent.destroy();
  await product.remove();
  origin.closeAllConnections();
  origin.close();
}
