import type { Dialect } from '../seclang/ast.ts';
import type { UnicodeMap } from '../transformations/unicode-map.ts';

/** What the Sec… settings of a rule set say. Sizes in bytes, times in seconds. */
export type Settings = {
  engineMode: 'on' | 'off' | 'detection-only';
  isRequestBodyAccessed: boolean;
  /** Whether REQUEST_BODY is there whatever the processor. */
  hasRequestBodyAlways: boolean;
  requestBodyLimit: number;
  requestBodyNoFilesLimit: number;
  requestBodyLimitAction: 'reject' | 'process-partial';
  isResponseBodyAccessed: boolean;
  responseBodyLimit: number;
  responseBodyLimitAction: 'reject' | 'process-partial';
  /** Lower-case media types without parameters. */
  responseBodyTypes: readonly string[];
  argumentsLimit: number;
  jsonDepthLimit: number;
  argumentSeparator: number;
  collectionTimeoutSeconds: number;
  componentSignatures: readonly string[];
  webAppId: string;
  /** %uXXXX mapping of the code page in force, or null for the built-in one (20127). */
  unicodeMap: UnicodeMap | null;
};

/** ModSecurity's defaults, but for the body limits, which are those CRS recommends. ModSecurity 3 reads request bodies unless told not to, and has REQUEST_BODY of all. */
export const defaultSettings = (dialect: Dialect): Settings => ({
  engineMode: 'off',
  isRequestBodyAccessed: dialect === 'modsecurity3',
  hasRequestBodyAlways: dialect === 'modsecurity3',
  requestBodyLimit: 13_107_200,
  requestBodyNoFilesLimit: 1_048_576,
  requestBodyLimitAction: 'reject',
  isResponseBodyAccessed: false,
  responseBodyLimit: 524_288,
  responseBodyLimitAction: 'reject',
  responseBodyTypes: ['text/plain', 'text/html', 'text/xml'],
  argumentsLimit: 1_000,
  jsonDepthLimit: 500,
  argumentSeparator: 0x26,
  collectionTimeoutSeconds: 3_600,
  componentSignatures: [],
  webAppId: 'default',
  unicodeMap: null,
});
