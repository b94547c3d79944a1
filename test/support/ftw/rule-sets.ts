import { existsSync, globSync, readFileSync } from 'node:fs';
import type { CompileEnv, RuleSource } from '@sallyport/waf';
import { oracleFolder } from './oracle-folder.ts';

const debianRules = '/usr/share/modsecurity-crs/rules';
const debianSetup = '/etc/modsecurity/crs/crs-setup.conf';
const crs4 = process.env.SALLYPORT_CRS4_DIR;

export type Suite = { readonly folder: string; readonly sources: readonly RuleSource[] };

/** What a web server's own configuration adds to CRS: body access and processors, and detection only, as CRS's own test setup has it. */
const host = `
SecRuleEngine DetectionOnly
SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRequestBodyNoFilesLimit 13107200
SecRequestBodyLimitAction ProcessPartial
SecResponseBodyAccess On
SecResponseBodyMimeType text/plain text/html text/xml application/json
SecResponseBodyLimitAction ProcessPartial
SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\\+|/)|text/)xml" \\
  "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "^application/json" \\
  "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
`;

const env4 = `
SecAction "id:900001,phase:1,pass,nolog,t:none,setvar:tx.blocking_paranoia_level=4,setvar:tx.arg_length=400,\\
  setvar:tx.total_arg_length=6400,setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535,\\
  setvar:tx.arg_name_length=100,setvar:tx.max_num_args=255"
`;

const env3 = `
SecAction "id:900001,phase:1,pass,nolog,t:none,setvar:tx.paranoia_level=4,setvar:tx.arg_length=400,\\
  setvar:tx.total_arg_length=64000,setvar:tx.max_file_size=64100,setvar:tx.combined_file_sizes=65535,\\
  setvar:tx.arg_name_length=100,setvar:tx.max_num_args=255,setvar:tx.crs_validate_utf8_encoding=1"
`;

const readAll = (paths: readonly string[]): RuleSource[] => paths.map((path) => ({ path, text: readFileSync(path) }));

/** CRS 3.3.4 with Debian's rules; null when its tests are not on this machine. Throws an `Error` when Debian's rules are not. */
export const crs334 = (): Suite | null => {
  const folder = `${oracleFolder}/crs-3.3.4`;
  if (!existsSync(debianSetup)) throw new Error('the Core Rule Set is missing; bin/test installs it');
  if (!existsSync(folder)) return null;
  const rules = globSync(`${debianRules}/*.conf`).sort();
  return {
    folder,
    sources: [{ path: 'host.conf', text: host }, { path: 'env.conf', text: env3 }, ...readAll([debianSetup, ...rules])],
  };
};

/** CRS 4.x with the rules in SALLYPORT_CRS4_DIR; null when rules or tests are not on this machine. */
export const crs4x = (): Suite | null => {
  if (crs4 === undefined) return null;
  const folder = `${oracleFolder}/crs-4`;
  const setup = `${crs4}/crs-setup.conf.example`;
  if (!existsSync(setup) || !existsSync(folder)) return null;
  const rules = globSync(`${crs4}/rules/*.conf`).sort();
  return {
    folder,
    sources: [{ path: 'host.conf', text: host }, { path: 'env.conf', text: env4 }, ...readAll([setup, ...rules])],
  };
};

/** What the name of a test says when what it needs is not on this machine: that it does not run, and why; else nothing. */
export const unlessHere = (isHere: boolean): string =>
  isHere ? '' : ' (not run: its tests are not on this machine, see packages/waf/README.md)';

/** Reads rule files and their data files from the disk. */
export const diskEnv: CompileEnv = {
  readFile: (path) => readFileSync(path),
  glob: (pattern) => globSync(pattern).sort(),
};
