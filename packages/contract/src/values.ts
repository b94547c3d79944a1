/** Values without a schema: who needs no more than these loads no schema library, which takes several megabytes a thread. */

export { PROXY_HOST_DEFAULTS, PROXY_HOST_FIELD_KINDS } from './proxy-host-values.ts';

/** Upper bounds of the verdict latency histogram, in seconds; the last bucket counts everything. */
export const VERDICT_SECONDS_BOUNDS = [
  0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1,
] as const;

/** Longest request body, bytes, unless it is set: what the Core Rule Set recommends as SecRequestBodyLimit. */
export const WAF_BODY_LIMIT = 13_107_200;
