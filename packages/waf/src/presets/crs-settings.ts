import type { RuleSource } from '../model/rule-set.ts';

/** What operators set of CRS 3.3 and 4. */
export type CrsSettings = {
  /** 1 (fewest false alarms) to 4. */
  readonly paranoiaLevel: 1 | 2 | 3 | 4;
  /** Score at which a request is refused; CRS itself says 5. */
  readonly inboundThreshold: number;
  /** Score at which a response is refused; CRS itself says 4. */
  readonly outboundThreshold?: number;
} & CrsPolicy;

/** What CRS leaves to the operator to allow; what is absent is as CRS says. */
export type CrsPolicy = {
  /** Request methods, upper case. */
  readonly methods?: readonly string[];
  /** Media types of bodies, lower case and without parameters. */
  readonly contentTypes?: readonly string[];
};

/**
 * The TX variables (without `tx.`) that hold a policy in CRS 3.3 and 4: for a SecAction, or for `settings` of a single request.
 * Throws RangeError for what is no method or media type.
 */
export const crsPolicy = ({ methods, contentTypes }: CrsPolicy): Record<string, string> => {
  const wrong =
    methods?.find((method) => !/^[A-Z][A-Z0-9_-]{0,31}$/.test(method)) ??
    contentTypes?.find((type) => !/^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,128}$/.test(type));
  if (wrong !== undefined) throw new RangeError(`"${wrong}" is neither a method nor a media type`);
  return {
    ...(methods === undefined ? {} : { allowed_methods: methods.join(' ') }),
    ...(contentTypes === undefined
      ? {}
      : { allowed_request_content_type: contentTypes.map((type) => `|${type}|`).join(' ') }),
  };
};

/**
 * Settings for CRS as a rule source; put it between the baseline and CRS's own setup file. Throws RangeError for a value that is
 * none. Ids 9520000–9520099.
 */
export const crsSettings = ({
  paranoiaLevel,
  inboundThreshold,
  outboundThreshold = 4,
  ...policy
}: CrsSettings): RuleSource => {
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
  const assignments = [
    ...Object.entries(settings).map(([name, value]) => `setvar:${name}=${value}`),
    ...Object.entries(crsPolicy(policy)).map(([name, value]) => `setvar:'tx.${name}=${value}'`),
  ];
  return { path: 'crs-settings', text: `SecAction "id:9520000,phase:1,pass,nolog,t:none,${assignments.join(',')}"\n` };
};
