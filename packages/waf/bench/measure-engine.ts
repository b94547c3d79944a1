import { execFileSync } from 'node:child_process';
import { compileCrs3 } from '../../../test/support/waf/crs.ts';
import { engineRequest, type Kind } from '../../../test/support/waf/requests.ts';

export type Temperature = 'no memo' | 'cold' | 'warm';

const warmUp = 6_000;
const batches = 24;
const batchSize = 500;
const repeating = 50;

/**
 * µs of CPU per benign request, the best of some batches: what else runs on the machine only ever adds. `cold`: every value that differs
 * between visitors (arguments, path, cookies, Referer, User-Agent) is new each time, what all send (Accept, header names) repeats;
 * `no memo`: not even that is remembered; `warm`: requests repeat from a set of 50.
 */
const measure = (paranoiaLevel: 1 | 2 | 3 | 4, kind: Kind, temperature: Temperature): number => {
  const ruleSet = compileCrs3(paranoiaLevel, temperature === 'no memo' ? { memoBytes: 0 } : {});
  // Above level 1 even harmless requests score: they are only detected, so that every phase runs.
  const limits = { mode: paranoiaLevel === 1 ? 'block' : 'detect' } as const;
  let number = 1_000_000;
  const next = () =>
    engineRequest(kind, String(temperature === 'warm' ? 1_000_000 + (number++ % repeating) : number++));
  for (let count = 0; count < warmUp; count++) ruleSet.inspect(next(), limits);
  let best = Number.POSITIVE_INFINITY;
  for (let batch = 0; batch < batches; batch++) {
    const requests = Array.from({ length: batchSize }, next);
    const before = process.cpuUsage();
    for (const request of requests) {
      const verdict = ruleSet.inspect(request, limits);
      if (verdict.action !== 'pass') throw new Error(`a benign request was refused by rule ${verdict.ruleId}`);
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / batchSize);
  }
  return best;
};

/** The same in a process of its own, as a worker has one rule set: what ran before must not decide how the code was compiled. */
export const measureEngine = (paranoiaLevel: 1 | 2 | 3 | 4, kind: Kind, temperature: Temperature): number =>
  Number(
    execFileSync(process.execPath, [import.meta.filename, String(paranoiaLevel), kind, temperature], {
      encoding: 'utf8',
    }),
  );

if (process.argv[1] === import.meta.filename) {
  const [level, kind, temperature] = process.argv.slice(2);
  process.stdout.write(String(measure(Number(level) as 1, kind as Kind, temperature as Temperature)));
}
