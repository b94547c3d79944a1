import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../../test/support/temporary-directory.ts';
import { clearLeftRuns } from './clear-left-runs.ts';

const logTo = (lines: string[]) => pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });

test('all that runs left goes, and where there is nothing that is no error', () =>
  withTemporaryDirectory(async (dataDir) => {
    const lines: string[] = [];
    const directory = join(dataDir, 'dns');
    mkdirSync(join(directory, 'lego-x', 'keys'), { recursive: true });
    writeFileSync(join(directory, 'lego-x', 'keys', 'account.key'), 'a key');
    for (let time = 0; time < 2; time++) clearLeftRuns(directory, logTo(lines));
    expect(existsSync(directory)).toBe(false);
    expect(lines).toEqual([]);
  }));

test('what can not be removed is told', () => {
  const lines: string[] = [];
  clearLeftRuns('/proc/version', logTo(lines));
  expect(lines).toEqual([expect.stringContaining('"directory":"/proc/version"')]);
});
