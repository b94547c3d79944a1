/**
 * An import of a Caddyfile with many sites through the API: how long until its preview is there, until the commit has answered
 * (then all sites are live), the same when each of them overwrites a host, and how long taking both back takes; and how long the slowest
 * answer to another caller took meanwhile.
 *
 * node test/bench/import.ts [sites] [postgres]; needs haproxy, and a PostgreSQL's programs for the second.
 */
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg } from 'node:os';
import type { ImportOutcome, ImportPreview, ImportSession } from '@sallyport/contract';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct } from '../support/product.ts';
import { startPostgres } from '../support/start-postgres.ts';

const siteCount = Number(process.argv[2] ?? 10_000);
const isPostgres = process.argv[3] === 'postgres';
const WANTED_S = { preview: 3, commit: 10, revert: 10 };
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const nameOf = (index: number): string => `site-${index}.example.com`;

const statusOf = (port: number, host: string): Promise<number> =>
  new Promise((resolve) => {
    get({ host: '127.0.0.1', port, agent: false, headers: { host } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', () => resolve(0));
  });

const origin = createServer((_request, response) => response.end('fine')).listen(0, '127.0.0.1');
await once(origin, 'listening');
const { port: originPort } = origin.address() as AddressInfo;
const postgres = isPostgres ? await startPostgres() : undefined;
const [api = 0, http = 0, https = 0] = await freePorts(3);
const product = createProduct({ api, http, https }, postgres?.url);

const { call } = createApiCaller(() => product.api);

/** Measures `work` while somebody else asks the API for its health again and again. */
const measure = async <T>(what: string, wanted: number, work: () => Promise<T>): Promise<T> => {
  const began = performance.now();
  let isOver = false;
  const working = work().finally(() => {
    isOver = true;
  });
  let slowest = 0;
  while (!isOver) {
    const asked = performance.now();
    await call('GET', '/health');
    slowest = Math.max(slowest, performance.now() - asked);
  }
  const result = await working;
  const seconds = (performance.now() - began) / 1_000;
  const verdict = seconds < wanted ? 'met' : 'NOT MET';
  const load = loadavg()[0]?.toFixed(1);
  say(
    `${what}: ${seconds.toFixed(1)} s (wanted ${wanted}: ${verdict}); slowest other answer ${(slowest / 1_000).toFixed(1)} s; load ${load}`,
  );
  return result;
};

const importAll = async (what: string, strategy: 'keep' | 'overwrite', options: string): Promise<string> => {
  const sites = Array.from({ length: siteCount }, (_, index) => nameOf(index));
  const content = sites
    .map((name) => `http://${name} {\n\treverse_proxy 127.0.0.1:${originPort}\n${options}}\n`)
    .join('');
  const preview = await measure(`${what}: preview`, WANTED_S.preview, async () => {
    const { session } = await call<{ session: ImportSession }>('POST', '/import/upload', { content });
    return { uuid: session.uuid, ...(await call<ImportPreview>('GET', '/import/preview')) };
  });
  const resolutions = Object.fromEntries(preview.conflicts.map((name) => [name, strategy]));
  const commit = { session_uuid: preview.uuid, resolutions };
  const { imported, failed, batch } = await measure(`${what}: commit`, WANTED_S.commit, () =>
    call<ImportOutcome>('POST', '/import/commit', commit),
  );
  if (imported !== siteCount || failed !== 0 || batch === null)
    throw new Error(`${imported} imported, ${failed} failed`);
  for (const index of [0, siteCount - 1]) {
    const status = await statusOf(http, nameOf(index));
    if (status !== 200) throw new Error(`${nameOf(index)} answered ${status} after the commit`);
  }
  return batch;
};

const takeBack = (what: string, batch: string) =>
  measure(`${what}: taken back`, WANTED_S.revert, () => call('POST', `/history/batches/${batch}/revert`));

try {
  say(`${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  say(`${siteCount} sites, ${isPostgres ? 'PostgreSQL' : 'SQLite'}`);
  await product.start();
  const made = await importAll('new', 'keep', '');
  const changed = await importAll(
    'overwriting',
    'overwrite',
    '\theader Strict-Transport-Security "max-age=63072000"\n',
  );
  await takeBack('overwriting', changed);
  await takeBack('new', made);
} finally {
  await product.remove();
  // While the origin listens: nothing else would keep this process waiting for it.
  await postgres?.stop();
  origin.closeAllConnections();
  origin.close();
}
