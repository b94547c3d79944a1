import { compileCrs3 } from './crs.ts';
import { engineRequest, type Kind } from './requests.ts';

export type Temperature = 'cold' | 'mixed' | 'warm';

const warmUp = 3_000;
const batches = 10;
const batchSize = 500;
const repeating = 50;

/**
 * µs of CPU per benign request. `cold`: every argument is new and there is no memo, so every value is scanned; `mixed`: every
 * argument is new, header values repeat; `warm`: requests repeat from a set of 50. The best of ten batches: what else runs on the
 * machine only ever adds.
 */
export const measureEngine = (paranoiaLevel: 1 | 2 | 3 | 4, kind: Kind, temperature: Temperature): number => {
  const ruleSet = compileCrs3(paranoiaLevel, temperature === 'cold' ? { memoBytes: 0 } : {});
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
