import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { keepTellingTraffic, tellsTraffic } from './traffic.ts';

test('every request is told from when that is wanted until it is not', () =>
  withTemporaryDirectory(async (dataDir) => {
    expect(tellsTraffic(dataDir)).toBe(false);
    for (const isWanted of [false, true, true, false, false]) {
      await keepTellingTraffic(dataDir, isWanted);
      expect(tellsTraffic(dataDir)).toBe(isWanted);
    }
  }));
