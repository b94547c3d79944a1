import { expect, onTestFinished, test } from 'vitest';
import { startLockedOut } from '../support/locked-out.ts';
import { all, createEstate } from './estate.ts';

/** CLOSING_ROUNDS=50 looks as often. */
const rounds = Number(process.env.CLOSING_ROUNDS ?? 3);

test('a host that is switched off and loses its access list, or is deleted with it, lets nobody through on the way; nor does one that moves', async () => {
  const lockedOut = await startLockedOut();
  const estate = await createEstate(lockedOut);
  onTestFinished(async () => {
    await estate.stop();
    await lockedOut.stop();
  });
  await estate.prepare(all(estate, 'red'));
  for (let round = 0; round < rounds; round += 1) {
    await estate.denied('off');
    await estate.denied('listed');
    await estate.moved('open');
    await estate.moved('sealed');
  }
  await estate.check();
  await estate.prepare(all(estate, 'red'));
  const uuids = (await estate.hosts()).map(({ uuid }) => uuid);
  await estate.call('POST', '/proxy-hosts/bulk-delete', { uuids });
  expect(estate.passedSoFar()).toEqual([]);
}, 300_000);
