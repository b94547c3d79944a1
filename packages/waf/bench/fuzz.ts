// Mutated requests by the million: none may throw, the heap must not grow. node packages/waf/bench/fuzz.ts [count] [seed]

import { crs334, diskEnv } from '../../../test/support/ftw/rule-sets.ts';
import { compile } from '../src/index.ts';
import { fuzz } from '../test/support/fuzz.ts';

const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? 1);
const suite = crs334();
if (suite === null) throw new Error('CRS 3.3.4 or its tests are not on this machine');
const { ruleSet } = compile(suite.sources, diskEnv);
const start = performance.now();
let done = 0;
let slowest = 0;
let slowestUnits = 0;
let before = process.cpuUsage();
for (const verdict of fuzz(ruleSet!, suite.folder, count, seed)) {
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  const millis = (user + system) / 1_000;
  // The first one has read the corpus and built the automata.
  if (done > 0 && millis > slowest) {
    slowest = millis;
    slowestUnits = verdict.workUnits;
  }
  if (verdict.limitsHit.includes('work')) throw new Error('the work budget was spent');
  // As in a server the event loop must turn: what native code has allocated is given back there.
  if (++done % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  if (done % 50_000 === 0) {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
    const [heap, buffers, resident] = [heapUsed, arrayBuffers, rss].map((bytes) => (bytes / 1e6).toFixed(0));
    const seconds = ((performance.now() - start) / 1_000).toFixed(0);
    process.stdout.write(
      `${done} requests, ${seconds} s, heap ${heap} MB, buffers ${buffers} MB, resident ${resident} MB, slowest ${slowest.toFixed(0)} ms of CPU (${slowestUnits} work units)\n`,
    );
  }
}
