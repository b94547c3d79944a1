import { describe, expect, test } from 'vitest';
import { answer } from '../../../test/support/ftw/back-end.ts';
import { readRequest } from '../../../test/support/ftw/front-end.ts';
import { crs4x, crs334, diskEnv, type Suite, unlessHere } from '../../../test/support/ftw/rule-sets.ts';
import { readSuite } from '../../../test/support/ftw/suite.ts';
import { toBytes } from '../../../test/support/ftw/to-bytes.ts';
import { compileProgram } from '../src/engine/compile.ts';
import { createRuleSet } from '../src/engine/create-rule-set.ts';
import { createMutator } from './support/mutate-request.ts';
import { digest } from './support/verdict-digest.ts';

const now = Date.UTC(2026, 0, 15, 12);

/** Every `step`th request of the suite, as it is and mutated, through the scanning engine and through the naive one. */
const compare = (suite: Suite, step: number, mutations: number): number => {
  const { program } = compileProgram(suite.sources, diskEnv);
  const scanning = createRuleSet(program!, {});
  const withoutMemo = createRuleSet(program!, { memoBytes: 0 });
  const naive = createRuleSet(program!, {}, { isNaive: true });
  const mutate = createMutator(20_260_115);
  let compared = 0;
  for (const [index, { stages, isOldDialect }] of readSuite(suite.folder).entries()) {
    if (index % step !== 0) continue;
    for (let round = 0; round <= mutations; round++) {
      const raw = toBytes(stages[0]!, isOldDialect);
      const { request } = readRequest(round === 0 ? raw : mutate(raw), now);
      const expected = digest(naive.begin(request).inspectResponse(answer(request)));
      expect(digest(scanning.begin(request).inspectResponse(answer(request)))).toEqual(expected);
      expect(digest(withoutMemo.begin(request).inspectResponse(answer(request)))).toEqual(expected);
      compared++;
    }
  }
  return compared;
};

const suite3 = crs334();
const suite4 = crs4x();

describe('the scanning engine gives the verdict of the naive one, match by match', () => {
  test.skipIf(suite3 === null)(
    `on CRS 3.3.4, over its tests and mutations of them${unlessHere(suite3 !== null)}`,
    () => {
      expect(compare(suite3!, 7, 2)).toBeGreaterThan(1_000);
    },
  );

  test.skipIf(suite4 === null)(`on CRS 4, over its tests and mutations of them${unlessHere(suite4 !== null)}`, () => {
    expect(compare(suite4!, 29, 2)).toBeGreaterThan(500);
  });
});
