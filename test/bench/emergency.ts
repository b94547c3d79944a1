/**
 * How long an emergency reset takes while an attack goes on: from its request until it was answered 200 and until the proxy
 * lets through what it refused before. 1,000 requests a second that the firewall blocks come through the proxy meanwhile; once
 * with everything running (tier 1), and once with the server standing still (tier 2).
 *
 * node test/bench/emergency.ts [rounds]; needs haproxy, modsecurity-crs, wrk.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LockedOut, startLockedOut, type Tier } from '../support/locked-out.ts';
import { until } from '../support/until.ts';

const rounds = Number(process.argv[2] ?? 5);
const WANTED_MS = 2_000;
const CONNECTIONS = 200;
/** What is tried: connections wait for answers besides, so that fewer come. */
const PER_SECOND = 1_700;
const SECONDS = 6;
/** By then the attack has its full strength. */
const AFTER_MS = 3_000;
const run = promisify(execFile);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const folder = mkdtempSync(join(tmpdir(), 'sp-bench-emergency-'));
const script = join(folder, 'attack.lua');

/** Resolves to the requests a second that were really sent. */
const flood = async ({ product, attack }: LockedOut): Promise<number> => {
  writeFileSync(
    script,
    `wrk.headers["Host"] = ${JSON.stringify(attack.host)}
local n = math.random(1000000)
request = function()
  n = n + 1
  return wrk.format("GET", ${JSON.stringify(attack.path)} .. "&n=" .. n)
end
delay = function() return math.random(${(2 * 1_000 * CONNECTIONS) / PER_SECOND}) end
`,
  );
  const url = `http://127.0.0.1:${product.ports.http}`;
  const { stdout } = await run('wrk', ['-t1', `-c${CONNECTIONS}`, `-d${SECONDS}s`, '-s', script, url]);
  return Number(/(\d+) requests in/.exec(stdout)?.[1]) / SECONDS;
};

interface Measured {
  answered: number;
  open: number;
  perSecond: number;
}

const measure = async (lockedOut: LockedOut, tier: Tier, round: number): Promise<Measured> => {
  await lockedOut.lock();
  const attack = flood(lockedOut);
  await pause(AFTER_MS);
  if ((await lockedOut.ask()) !== 403) throw new Error('the attack is not refused');
  const { server } = lockedOut.product.pids();
  if (tier === 2) process.kill(server, 'SIGSTOP');
  try {
    const begun = performance.now();
    const since = () => performance.now() - begun;
    // One address has five attempts a minute.
    const answer = lockedOut.reset(tier, `127.0.${tier}.${round + 1}`).then((isDone) => {
      if (!isDone) throw new Error('the reset was refused');
      return since();
    });
    const open = until('the proxy lets through', async () => (await lockedOut.ask()) === 200 && since(), 60_000);
    const [answered, opened] = await Promise.all([answer, open]);
    // Before the supervisor replaces it.
    if (tier === 2) process.kill(server, 'SIGCONT');
    return { answered, open: opened, perSecond: await attack };
  } finally {
    await until('the server has seen it', async () => (await lockedOut.switchesOn()) === 0, 60_000);
  }
};

const lockedOut = await startLockedOut();
try {
  say(`load average before: ${loadavg()[0]?.toFixed(1)}; wanted: both below ${WANTED_MS} ms`);
  for (const tier of [1, 2] as const) {
    say(tier === 1 ? 'tier 1, everything runs' : 'tier 2, the server stands still (SIGSTOP)');
    for (let round = 0; round < rounds; round += 1) {
      const { answered, open, perSecond } = await measure(lockedOut, tier, round);
      const isMet = Math.max(answered, open) < WANTED_MS;
      const times = `answered after ${answered.toFixed(0)} ms, open after ${open.toFixed(0)} ms`;
      say(`  ${times}, at ${perSecond.toFixed(0)} requests/s: ${isMet ? 'met' : 'NOT MET'}`);
    }
  }
  say(`load average after: ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await lockedOut.stop();
  rmSync(folder, { recursive: true });
}
