import { globSync, readFileSync } from 'node:fs';
import {
  baselineRules,
  type CompileEnv,
  compile,
  crsSettings,
  formatDiagnostic,
  ownRules,
  type RuleSet,
  type RuleSource,
} from '@sallyport/waf';

export const crs3Setup = '/etc/modsecurity/crs/crs-setup.conf';
export const crs3Rules = '/usr/share/modsecurity-crs/rules';

const read = (path: string): RuleSource => ({ path, text: readFileSync(path) });

export const crs3Sources = (paranoiaLevel: 1 | 2 | 3 | 4): RuleSource[] => [
  baselineRules,
  ownRules,
  crsSettings({ paranoiaLevel, inboundThreshold: 5 }),
  ...[crs3Setup, ...globSync(`${crs3Rules}/*.conf`).sort()].map(read),
];

/** CRS 3.3.4 of Debian, compiled; throws with the diagnostics when it does not load. */
export const compileCrs3 = (paranoiaLevel: 1 | 2 | 3 | 4, env: CompileEnv = {}): RuleSet => {
  const { ruleSet, diagnostics } = compile(crs3Sources(paranoiaLevel), {
    readFile: (path) => readFileSync(path),
    ...env,
  });
  if (ruleSet === null) throw new Error(diagnostics.map(formatDiagnostic).join('\n'));
  return ruleSet;
};
