import { resolve } from 'node:path';

/** Test data of other engines and rule sets, where it is at hand: beside the repository, never inside it. */
export const oracleFolder: string =
  process.env.SALLYPORT_WAF_ORACLES ?? resolve(import.meta.dirname, '../../../../shared/waf-oracles');
