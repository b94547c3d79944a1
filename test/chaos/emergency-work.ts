import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { LockedOut, Tier } from '../support/locked-out.ts';
import { until } from '../support/until.ts';
import type { Work } from './work.ts';

const REFUSED = 403;
const PASSED = 200;

/** An emergency reset: once it was acknowledged the proxy never refuses again, and its switches are off. */
export const emergencyReset = (lockedOut: LockedOut, tier: Tier): Work => ({
  name: `emergency reset, tier ${tier}`,
  prepare: () => lockedOut.lock(),
  run: () => lockedOut.reset(tier),
  async watchStart(wasAcknowledged, signal) {
    while (!signal.aborted) {
      const status = await lockedOut.ask();
      if (wasAcknowledged) expect(status, 'what the proxy answers after a reset').not.toBe(REFUSED);
      await sleep(5);
    }
  },
  async check(wasAcknowledged) {
    const on = await until('the API answers', () => lockedOut.switchesOn().then(String, () => undefined), 60_000);
    // All are stored in one transaction.
    expect(wasAcknowledged ? ['0'] : ['0', '5']).toContain(on);
    const wanted = on === '0' ? PASSED : REFUSED;
    await until(`the proxy answers ${wanted}`, async () => (await lockedOut.ask()) === wanted, 60_000);
  },
});
