/**
 * Certificates that come and renew by themselves, from a real authority (Pebble, which waits for nothing): from an order to the
 * first handshake with its certificate, and the renewal of many that are due at about the same time while clients open new TLS
 * connections to all of them, each of which has to get a valid certificate for its name.
 *
 * They become due as all do: Pebble certifies for minutes only, and the product renews them after two thirds of that. The minutes have to be
 * enough for all to be there before the first is due, and for all to be renewed within the last third; else it says so, or handshakes fail.
 *
 * node test/bench/acme.ts [certificates] [handshakes/s] [minutes of validity]; needs haproxy and pebble.
 */
import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Certificate, SignedIn } from '@sallyport/contract';
import { freePorts } from '../support/free-ports.ts';
import { createProduct } from '../support/product.ts';
import { servedCertificate } from '../support/served-certificate.ts';
import { startPebble } from '../support/start-pebble.ts';
import type { Handshakes } from './acme-handshakes.ts';

// As bin/up does: Node keeps what it compiled, for all processes of the product.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url));

const count = Number(process.argv[2] ?? 1_000);
const perSecond = Number(process.argv[3] ?? 1_000);
const ORDERS = 20;
const THREADS = 2;
const POLL_MS = 10;
const LOOK_MS = 1_000;
const TICKS_PER_SECOND = 100;
/** A quarter of an hour for a thousand, three minutes for a few. */
const minutes = Number(process.argv[4] ?? 3 + count * 0.012);

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const quantiles = (values: readonly number[], unit: string): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(2);
  return `p50 ${at(0.5)} ${unit}, p99 ${at(0.99)} ${unit}, max ${at(1)} ${unit}`;
};

const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // utime and stime, fields 14 and 15 of the whole line.
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
};

const [api = 0, http = 0, https = 0] = await freePorts(3);
const product = createProduct({ api, http, https });
const pebble = await startPebble({ httpPort: http, validitySeconds: Math.ceil(minutes * 60) });

const headers: Record<string, string> = { 'content-type': 'application/json' };
const send = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const response = await fetch(`${product.api}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};

const isOfPebble = ({ issuer }: X509Certificate): boolean => issuer.includes('Pebble');

/** Orders a certificate; resolves with the seconds from the call to the first handshake that gets it. */
const orderToLive = async (name: string): Promise<number> => {
  const began = performance.now();
  const { certificate } = await send<{ certificate: Certificate }>('POST', '/certificates/order', { names: [name] });
  while (!isOfPebble(await servedCertificate(https, name))) await delay(POLL_MS);
  const seconds = (performance.now() - began) / 1_000;
  // Not to be renewed with the others.
  await send('DELETE', `/certificates/${certificate.id}`);
  return seconds;
};

/** How many certificates were issued or renewed since the start. */
const outcomes = async (): Promise<Record<'issued' | 'renewed' | 'failed', number>> => {
  const page = await (await fetch(`http://127.0.0.1:${api}/metrics`, { headers })).text();
  const of = (outcome: string): number =>
    Number(
      new RegExp(`^sallyport_certificate_orders_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(page)?.[1] ?? 0,
    );
  return { issued: of('issued'), renewed: of('renewed'), failed: of('failed') };
};

/** Resolves with the seconds until so many more are `what`. */
const untilSoMany = async (what: 'issued' | 'renewed', wanted: number): Promise<number> => {
  const began = performance.now();
  while ((await outcomes())[what] < wanted) await delay(LOOK_MS);
  return (performance.now() - began) / 1_000;
};

const serialsOf = async (names: readonly string[]): Promise<string[]> => {
  const serials: string[] = [];
  for (const name of names) {
    const certificate = await servedCertificate(https, name);
    if (!isOfPebble(certificate)) throw new Error(`${name} is not served with a certificate of the authority`);
    serials.push(certificate.serialNumber);
  }
  return serials;
};

/** A generator of handshakes that runs until it is stopped. */
const startHandshakes = (names: readonly string[], root: string): (() => Promise<Handshakes>) => {
  const workerData = { port: https, names, root, perSecond: perSecond / THREADS };
  const threads = Array.from(
    { length: THREADS },
    () => new Worker(new URL('acme-handshakes.ts', import.meta.url), { workerData }),
  );
  return async () => {
    const results = await Promise.all(
      threads.map(async (thread) => {
        thread.postMessage('stop');
        const [result] = (await once(thread, 'message')) as [Handshakes];
        await thread.terminate();
        return result;
      }),
    );
    const failures = new Map<string, number>();
    for (const [reason, times] of results.flatMap((result) => [...result.failures])) {
      failures.set(reason, (failures.get(reason) ?? 0) + times);
    }
    return {
      durations: results.flatMap(({ durations }) => durations),
      failures,
      seconds: Math.max(...results.map(({ seconds }) => seconds)),
    };
  };
};

try {
  say(`${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  await product.start();
  const credentials = { email: 'ada@example.com', password: 'correct horse battery' };
  headers.authorization = `Bearer ${(await send<SignedIn>('POST', '/setup', credentials)).token}`;
  for (const setting of pebble.settings) await send('POST', '/settings', setting);
  const { directoryUrl: directory_url, ca: ca_certificate } = pebble;
  await send('POST', '/acme/accounts', { name: 'Pebble', directory_url, ca_certificate, terms_agreed: true });
  const root = await pebble.root();

  const alone: number[] = [];
  for (let order = 0; order < ORDERS; order++) alone.push(await orderToLive(`order-${order}.example.test`));
  say(`order to live, one after the other: ${quantiles(alone, 's')}`);

  const names = Array.from({ length: count }, (_, index) => `host-${index}.customer-${index % 97}.example.test`);
  const before = await outcomes();
  const began = performance.now();
  for (const domain of names) {
    await send('POST', '/proxy-hosts', { domain, forward_host: '127.0.0.1', forward_port: 9, auto_certificate: true });
  }
  say(`${count} hosts with auto_certificate made in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  await untilSoMany('issued', before.issued + count);
  const issuedSeconds = (performance.now() - began) / 1_000;
  say(
    `all have a certificate ${issuedSeconds.toFixed(1)} s after the first call: ${(count / issuedSeconds).toFixed(1)}/s`,
  );
  const first = await serialsOf(names);
  const { renewed } = await outcomes();
  if (renewed > before.renewed) throw new Error('some were due before all were there: a machine too slow for this');

  await untilSoMany('renewed', before.renewed + 1);
  const pids = product.pids();
  const spent = () => [cpuSeconds(pids.server), cpuSeconds(pids['haproxy worker'])] as const;
  const [server, haproxy] = spent();
  const stop = startHandshakes(names, root);
  const late = orderToLive('late.example.test');
  const seconds = await untilSoMany('renewed', before.renewed + count);
  const { durations, failures, seconds: loaded } = await stop();
  const [serverAfter, haproxyAfter] = spent();
  const last = await serialsOf(names);
  const same = last.filter((serial, index) => serial === first[index]).length;
  const failed = [...failures.values()].reduce((sum, times) => sum + times, 0);
  say(`${count - same} of ${count} renewed, in ${seconds.toFixed(1)} s: ${(count / seconds).toFixed(1)}/s`);
  say(
    `handshakes meanwhile: ${durations.length + failed} (${((durations.length + failed) / loaded).toFixed(0)}/s), ` +
      `${failed} failed; ${quantiles(durations, 'ms')}`,
  );
  for (const [reason, times] of failures) say(`  ${times} × ${reason}`);
  say(`an order meanwhile, to live: ${(await late).toFixed(2)} s`);
  say(`CPU: server ${(serverAfter - server).toFixed(1)} s, HAProxy ${(haproxyAfter - haproxy).toFixed(1)} s`);
  say(`attempts that failed: ${(await outcomes()).failed - before.failed}`);
} finally {
  await product.remove();
  await pebble.stop();
}
