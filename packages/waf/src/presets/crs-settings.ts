import type { RuleSource } from '../ruleset.ts';

/** What operators set of CRS 3.3 and 4. */
export type CrsSettings = {
  /** 1 (fewest false alarms) to 4. */
  readonly paranoiaLevel: 1 | 2 | 3 | 4;
  /** Score at which a request is refused; CRS itself says 5. */
  readonly inboundThreshold: number;
  /** Score at which a response is refused; CRS itself says 4. */
  readonly outboundThreshold?: number;
};

/**
 * Settings for CRS as a rule source; put it between the baseline and CRS's own setup file. Throws RangeError for a value that is
 * none. Ids 9520000–9520099.
 */
export const crsSettings = ({ paranoiaLevel, inboundThreshold, outboundThreshold = 4 }: CrsSettings): RuleSource => {
  if (![1, 2, 3, 4].includes(paranoiaLevel)) throw new RangeError(`${paranoiaLevel} is not a paranoia level (1 to 4)`);
  for (const threshold of [inboundThreshold, outboundThreshold]) {
    if (!Number.isInteger(threshold) || threshold < 1) throw new RangeError(`${threshold} is not an anomaly threshold`);
  }
  // CRS 3.3 and 4 name the level differently; both are set, each ignores the other's.
  const settings = {
    'tx.paranoia_level': paranoiaLevel,
    'tx.blocking_paranoia_level': paranoiaLevel,
    'tx.inbound_anomaly_score_threshold': inboundThreshold,
    'tx.outbound_anomaly_score_threshold': outboundThreshold,
  };
  const assignments = Object.entries(settings).map(([name, value]) => `setvar:${name}=${value}`);
  return { path: 'crs-settings', text: `SecAction "id:9520000,phase:1,pass,nolog,t:none,${assignments.join(',')}"\n` };
};
