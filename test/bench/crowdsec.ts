/**
 * How soon what CrowdSec decides is in force at the proxy. Alerts: from the moment that a scan's alert is in CrowdSec's own
 * database until the proxy refuses the scanner. Decisions: from the moment that CrowdSec has the last of many decisions until
 * the proxy refuses the last of them and the API says that it has all. The product, HAProxy and CrowdSec are the real ones.
 *
 * node test/bench/crowdsec.ts [scans] [decisions]; needs haproxy, crowdsec.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { CrowdsecStatus } from '@sallyport/contract';
import { crowdsecAccount } from '@sallyport/server/testing/parts';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { ask } from '../support/http-client.ts';
import { createProduct } from '../support/product.ts';
import { until } from '../support/until.ts';

const scans = Number(process.argv[2] ?? 5);
const decisions = Number(process.argv[3] ?? 20_000);
const ALERT_WANTED_MS = 3_000;
const DECISIONS_WANTED_MS = 5_000;
const WITHIN_MS = 120_000;
/** The last of the many; a client here can have it. */
const LAST = '127.0.77.77';
const run = promisify(execFile);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const [api = 0, http = 0, https = 0, lapi = 0] = await freePorts(4);
const product = createProduct({ api, http, https }, undefined, { SALLYPORT_CROWDSEC_PORT: String(lapi) });
const origin = createServer((_request, response) => {
  response.statusCode = 404;
  response.end('nothing here');
});

let token = '';
const { call: send } = createApiCaller(
  () => product.api,
  () => token,
);
const status = () => send<CrowdsecStatus>('GET', '/admin/crowdsec/status');
const statusOf = async (from: string, path: string) =>
  (await ask({ port: http, host: 'site.test', path, from })).status;
const isRefused = async (from: string) => (await statusOf(from, '/')) === 403 || undefined;

const start = async (): Promise<void> => {
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  await product.start();
  const { port } = origin.address() as AddressInfo;
  ({ token } = await send<{ token: string }>('POST', '/setup', {
    email: 'admin@example.com',
    password: 'correct horse battery',
  }));
  await send('POST', '/proxy-hosts', { domain: 'site.test', forward_host: '127.0.0.1', forward_port: port });
  await send('POST', '/security/config', { admin_whitelist: '127.0.0.1' });
  await send('POST', '/security/enable');
  await send('POST', '/settings', { key: 'security.crowdsec.enabled', value: 'true' });
  await send('POST', '/admin/crowdsec/start');
  await until(
    'CrowdSec reads the traffic',
    async () => {
      const { traffic, acquisition } = await status();
      return (traffic.told && acquisition.length > 0) || undefined;
    },
    WITHIN_MS,
  );
};

/** Milliseconds from the alert of this client's scan to its refusal. */
const scan = async (theirs: DatabaseSync, from: string): Promise<number> => {
  const find = theirs.prepare('select count(*) as count from alerts where source_ip = ?');
  const isAlert = () => Number(find.get(from)?.count) > 0 || undefined;
  let isOver = false;
  const scanning = (async () => {
    for (let index = 0; !isOver; index += 1) await statusOf(from, `/missing-${index}.php`);
  })();
  await until('there is an alert', isAlert, WITHIN_MS);
  const begun = performance.now();
  await until('the scanner is refused', () => isRefused(from), WITHIN_MS);
  const took = performance.now() - begun;
  isOver = true;
  await scanning;
  return took;
};

const importDecisions = async (directory: string): Promise<Record<'took' | 'inForce', number>> => {
  const values = Array.from({ length: decisions - 1 }, (_, at) => `198.18.${at >> 8}.${at & 255}`);
  const made = [...values, LAST].map((value) => ({ duration: '1h', reason: 'bench', scope: 'ip', type: 'ban', value }));
  const account = crowdsecAccount(directory);
  const file = join(account.state.at, 'many.json');
  writeFileSync(file, JSON.stringify(made), { mode: 0o644 });
  const args = [
    '-c',
    `${account.view}/etc/config.yaml`,
    'decisions',
    'import',
    '-i',
    `${account.state.view}/many.json`,
  ];
  const [command, line] = account.wrap('/usr/bin/cscli', args);
  const begun = performance.now();
  await run(command, line, { cwd: account.cwd });
  const imported = performance.now();
  await until('the last one is refused', () => isRefused(LAST), WITHIN_MS);
  await until('all are stored here', async () => (await status()).decisions >= decisions || undefined, WITHIN_MS);
  return { took: imported - begun, inForce: performance.now() - imported };
};

try {
  say(`load average before: ${loadavg()[0]?.toFixed(1)}`);
  await start();
  const directory = join(product.dataDir, 'crowdsec');
  const theirs = new DatabaseSync(join(crowdsecAccount(directory).state.at, 'crowdsec.db'), { readOnly: true });
  for (let round = 0; round < scans; round += 1) {
    const took = await scan(theirs, `127.0.66.${round + 1}`);
    const isMet = took < ALERT_WANTED_MS ? 'met' : 'NOT MET';
    say(`alert to refusal: ${took.toFixed(0)} ms, wanted below ${ALERT_WANTED_MS}: ${isMet}`);
  }
  const { took, inForce } = await importDecisions(directory);
  const isMet = inForce < DECISIONS_WANTED_MS ? 'met' : 'NOT MET';
  say(`${decisions} decisions: CrowdSec took them in ${took.toFixed(0)} ms`);
  say(`in force ${inForce.toFixed(0)} ms later, wanted below ${DECISIONS_WANTED_MS}: ${isMet}`);
  theirs.close();
} catch (error) {
  process.stderr.write(product.log().slice(-5_000));
  throw error;
} finally {
  await product.remove();
  origin.close();
}
