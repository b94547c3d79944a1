import { test } from 'vitest';
import { crs4x } from '../../../test/support/ftw/rule-sets.ts';
import { runSuite } from '../../../test/support/ftw/run-suite.ts';

const suite = crs4x();
const missing = suite === null ? ' (5,082 not run: set SALLYPORT_CRS4_DIR to a checkout of coreruleset)' : '';

test.skipIf(suite === null)(`passes 5,082 regression tests of CRS 4${missing}`, () => {
  runSuite(suite!, 5_082, {});
});
