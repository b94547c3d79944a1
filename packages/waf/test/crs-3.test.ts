import { test } from 'vitest';
import { crs334 } from '../../../test/support/ftw/rule-sets.ts';
import { runSuite } from '../../../test/support/ftw/run-suite.ts';

const suite = crs334();
const missing = suite === null ? ' (2,403 not run: rules or tests are not on this machine)' : '';

test.skipIf(suite === null)(`passes all 2,403 regression tests of CRS 3.3.4${missing}`, () => {
  runSuite(suite!, 2_403, {});
});
