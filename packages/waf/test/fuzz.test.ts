import { expect, test } from 'vitest';
import { crs334, diskEnv, unlessHere } from '../../../test/support/ftw/rule-sets.ts';
import { compile } from '../src/index.ts';
import { fuzz } from './support/fuzz.ts';

const suite = crs334();

// A million of them by hand: node packages/waf/bench/fuzz.ts
test.skipIf(suite === null)(
  `mutated requests of CRS 3.3.4 never make it throw, and each gets a verdict${unlessHere(suite !== null)}`,
  () => {
    const { ruleSet } = compile(suite!.sources, diskEnv);
    let refused = 0;
    for (const verdict of fuzz(ruleSet!, suite!.folder, 2_000, 42)) {
      expect(verdict.action).toBe('pass');
      expect(verdict.workUnits).toBeGreaterThan(0);
      if (verdict.wouldBe === 'block') refused++;
    }
    expect(refused).toBeGreaterThan(1_000);
  },
);
