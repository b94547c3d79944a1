// count-tests.mjs REPORT: prints "<passed> <failed>" of a vitest JSON report. A file that could not be loaded, or failed
// outside any test (a broken hook), counts as one failed test, so that it can't be overlooked.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const brokenFiles = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
);
process.stdout.write(`${report.numPassedTests} ${report.numFailedTests + brokenFiles.length}\n`);
