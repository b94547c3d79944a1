import { test } from 'vitest';
import { crs334, unlessHere } from '../../../test/support/ftw/rule-sets.ts';
import { runSuite } from '../../../test/support/ftw/run-suite.ts';

const suite = crs334();

test.skipIf(suite === null)(`passes all 2,403 regression tests of CRS 3.3.4${unlessHere(suite !== null)}`, () => {
  runSuite(suite!, 2_403, {});
});
