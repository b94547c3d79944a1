import { compileCrs3 } from './crs.ts';
import { engineRequest, type Kind } from './requests.ts';

export type Temperature = 'cold' | 'mixed' | 'warm';

const warmUp = 3_000;
const requests = 4_000;
const repeating = 50;

/**
 * µs of CPU per benign request. `cold`: every argument is new and there is no memo, so every value is scanned; `mixed`: every
 * argument is new, header values repeat; `warm`: requests repeat from a set of 50.
 */
export const measureEngine = (paranoiaLevel: 1 | 2 | 3 | 4, kind: Kind, temperature: Temperature): number => {
  const ruleSet = compileCrs3(paranoiaLevel, temperature === 'cold' ? { memoBytes: 0 } : {});
  // Above level 1 even harmless requests score: they are only detected, so that every phase runs.
  const limits = { mode: paranoiaLevel === 1 ? 'block' : 'detect' } as const;
  let number = 1_000_000;
  const next = () =>
    engineRequest(kind, String(temperature === 'warm' ? 1_000_000 + (number++ % repeating) : number++));
  for (let count = 0; count < warmUp; count++) ruleSet.inspect(next(), limits);
  const batch = Array.from({ length: requests }, next);
  const before = process.cpuUsage();
  for (const request of batch) {
    const verdict = ruleSet.inspect(request, limits);
    if (verdict.action !== 'pass') throw new Error(`a benign request was refused by rule ${verdict.ruleId}`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
};
