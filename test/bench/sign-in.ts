/**
 * Sign-in under attack: whether its duration tells known addresses from unknown ones, and what a flood does to others.
 * Run: node test/bench/sign-in.ts. Prints one line a figure.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { freePorts } from '../support/free-ports.ts';

const TRIES = 1_000;
const KNOWN_USERS = 25;
const FLOOD_PER_SECOND = 500;
const FLOOD_SECONDS = 10;
const READ_INTERVAL_MS = 10;
const PASSWORD = 'correct horse battery';

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values: readonly number[]): number => {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
};
/** Welch's t; below 2.6 in size, the chance that equal distributions differ so much is over 1 %. */
const welch = (a: readonly number[], b: readonly number[]): number =>
  (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length);
/** Share of pairs in which a value of `a` is the larger: 0.5 when nothing can be told. */
const superiority = (a: readonly number[], b: readonly number[]): number => {
  let wins = 0;
  for (const x of a) for (const y of b) wins += x > y ? 1 : x === y ? 0.5 : 0;
  return wins / (a.length * b.length);
};

const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
const [port = 0] = await freePorts(1);
const main = fileURLToPath(new URL('../../apps/server/src/main.ts', import.meta.url));
const server = spawn(process.execPath, [main], {
  env: {
    PATH: process.env.PATH,
    SALLYPORT_DATA_DIR: dataDir,
    SALLYPORT_HTTP_BIND: `127.0.0.1:${port}`,
    SALLYPORT_TRUSTED_PROXIES: '127.0.0.1',
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const api = `http://127.0.0.1:${port}/api/v1`;

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${api}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

let attempts = 0;
/** A sign-in that fails, each from an address of its own, as through a trusted proxy; returns status and milliseconds. */
const attempt = async (email: string): Promise<[number, number]> => {
  attempts += 1;
  const ip = `2001:db8:${(attempts >> 8).toString(16)}:${(attempts & 255).toString(16)}::1`;
  const start = performance.now();
  const answer = await post('/auth/login', { email, password: 'wrong password' }, { 'x-forwarded-for': ip });
  await answer.arrayBuffer();
  return [answer.status, performance.now() - start];
};

const measureTiming = async (known: readonly string[]) => {
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
  for (let n = 0; n < TRIES; n += 1) {
    // Pairs in changing order, so that drift of the machine hits both alike.
    const kinds = n % 4 === 0 || n % 4 === 3 ? 'known' : 'unknown';
    const email = kinds === 'known' ? (known[n % known.length] ?? '') : `nobody-${n}@example.com`;
    const [status, ms] = await attempt(email);
    if (status !== 401) throw new Error(`a failed sign-in answered ${status}`);
    times[kinds].push(ms);
  }
  const { known: a, unknown: b } = times;
  console.log(
    `sign-in, ${TRIES} failures: known ${quantile(a, 0.5).toFixed(2)} ms, unknown ${quantile(b, 0.5).toFixed(2)} ms (medians)`,
  );
  console.log(
    `  Welch's t ${welch(a, b).toFixed(2)}; a known one is slower in ${(100 * superiority(a, b)).toFixed(1)} % of pairs`,
  );
};

const read = async (): Promise<number> => {
  const start = performance.now();
  await (await fetch(`${api}/proxy-hosts`)).arrayBuffer();
  return performance.now() - start;
};

const reads = async (until: () => boolean): Promise<number[]> => {
  const times: number[] = [];
  while (!until()) {
    times.push(await read());
    await new Promise((resolve) => setTimeout(resolve, READ_INTERVAL_MS));
  }
  return times;
};

const after = (seconds: number) => {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() > end;
};

const measureFlood = async () => {
  const quiet = await reads(after(FLOOD_SECONDS / 2));
  // In a thread of its own: the reads' clock must not wait for the flood's work.
  const worker = new Worker(new URL('./sign-in-flood.ts', import.meta.url), {
    workerData: { api, perSecond: FLOOD_PER_SECOND, seconds: FLOOD_SECONDS },
  });
  const told = new Promise<string>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const busy = await reads(after(FLOOD_SECONDS));
  console.log(`flood of sign-ins from as many addresses: ${await told}`);
  for (const [name, times] of [
    ['quiet', quiet],
    ['flood', busy],
  ] as const) {
    const [median, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
    console.log(
      `  GET /proxy-hosts, ${name}: median ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${times.length})`,
    );
  }
};

try {
  while (
    !(await fetch(`${api}/health`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { token } = (await (await post('/setup', { email: 'admin@example.com', password: PASSWORD })).json()) as {
    token: string;
  };
  const known: string[] = [];
  for (let n = 0; n < KNOWN_USERS; n += 1) {
    const email = `known-${n}@example.com`;
    const made = await post('/users', { email, password: PASSWORD }, { authorization: `Bearer ${token}` });
    if (made.status !== 201) throw new Error(`adding a user answered ${made.status}`);
    known.push(email);
  }
  await measureTiming(known);
  await measureFlood();
} finally {
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  rmSync(dataDir, { recursive: true, force: true });
}
