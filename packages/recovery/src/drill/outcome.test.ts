import { expect, test } from 'vitest';
import { amiss, well, within } from './outcome.ts';

test('a check that never ends does not keep the drill, and one that fails says why', async () => {
  const never = new Promise<never>(() => {});
  expect(await within(50, () => never)).toEqual(amiss('no answer within 0.05 seconds'));
  expect(await within(60_000, () => Promise.reject(new Error('the disk is gone')))).toEqual(amiss('the disk is gone'));
  expect(await within(60_000, async () => well('fine'))).toEqual(well('fine'));
});
