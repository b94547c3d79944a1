import type { Applied, EnforcementPlane } from './ports.ts';

const REASON = 'HAProxy is not running';

/** Enforcement of a server that has no data plane to steer: everything stays stored and nothing is claimed to act. */
export const createDetachedEnforcement = (): EnforcementPlane => {
  const refused = async (): Promise<Applied> => ({ applied: false, issue: REASON });
  return {
    applyDecisions: refused,
    applyWhitelist: refused,
    applyRateLimit: refused,
    applySwitches: refused,
    applyGuardConfig: refused,
  };
};
