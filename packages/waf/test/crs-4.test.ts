import { test } from 'vitest';
import { crs4x } from './ftw/rule-sets.ts';
import { runSuite } from './ftw/run-suite.ts';

/** Tests that fail, and why that is accepted. */
const exceptions = {
  '934210-13':
    'wants ModSecurity 2’s name of a JSON list element, or ModSecurity 3’s REQUEST_BODY for JSON; here JSON names follow 3 and REQUEST_BODY follows 2',
};
const suite = crs4x();
const missing = suite === null ? ' (5,082 not run: set SALLYPORT_CRS4_DIR to a checkout of coreruleset)' : '';

test.skipIf(suite === null)(`passes 5,081 of 5,082 regression tests of CRS 4${missing}`, { timeout: 120_000 }, () => {
  runSuite(suite!, 5_082, exceptions);
});
