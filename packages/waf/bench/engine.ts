// CPU of the engine alone, per request: node packages/waf/bench/engine.ts
import { compileCrs3 } from './crs.ts';
import { engineRequest, type Kind, kinds } from './requests.ts';

const requests = 3_000;

/** µs of CPU per request. Cold: every argument is new, no memo; warm: as many requests again from a set of 50. */
const measure = (paranoiaLevel: 1 | 2 | 3 | 4, kind: Kind, isWarm: boolean): number => {
  const ruleSet = compileCrs3(paranoiaLevel, isWarm ? {} : { memoBytes: 0 });
  let number = 1_000_000;
  const take = (count: number) =>
    Array.from({ length: count }, () => engineRequest(kind, String(isWarm ? 1_000_000 + (number++ % 50) : number++)));
  for (const request of take(2_000)) ruleSet.inspect(request, { mode: 'block' });
  const batch = take(requests);
  const before = process.cpuUsage();
  for (const request of batch) {
    const verdict = ruleSet.inspect(request, { mode: 'block' });
    if (verdict.action !== 'pass')
      throw new Error(`a benign request was refused by ${verdict.ruleId}: ${JSON.stringify(verdict.matches)}`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
};

const before = process.memoryUsage();
const loadStart = performance.now();
compileCrs3(1);
const loadMs = performance.now() - loadStart;
process.stdout.write(
  `CRS 3.3.4 loads in ${loadMs.toFixed(0)} ms, ${((process.memoryUsage().rss - before.rss) / 1e6).toFixed(0)} MB\n`,
);
for (const level of [1, 4] as const) {
  for (const kind of kinds) {
    const cold = measure(level, kind, false);
    const warm = measure(level, kind, true);
    process.stdout.write(
      `PL${level} ${kind.padEnd(4)} cold ${cold.toFixed(0).padStart(5)} µs, warm ${warm.toFixed(0).padStart(5)} µs\n`,
    );
  }
}
