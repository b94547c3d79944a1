import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Files of the installed Core Rule Set in the order in which they have to be read. */
export interface CoreRuleSet {
  /** Directory of the rules; data files that they name (`@pmFromFile`) lie beside them. */
  directory: string;
  setup: readonly string[];
  rules: readonly string[];
}

/** Where Debian's package `modsecurity-crs` puts it. */
const DEBIAN = { setup: '/etc/modsecurity/crs', rules: '/usr/share/modsecurity-crs/rules' } as const;

const configurations = (directory: string): string[] => {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.conf'))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

/** Finds the installed Core Rule Set; undefined when there is none. The operator's own files around it belong to it. */
export const findCoreRuleSet = (at: { setup: string; rules: string } = DEBIAN): CoreRuleSet | undefined => {
  const own = configurations(at.setup);
  const rules = configurations(at.rules);
  if (!own.includes('crs-setup.conf') || rules.length === 0) return undefined;
  const before = own.filter((name) => name.startsWith('REQUEST-900-'));
  const after = own.filter((name) => name.startsWith('RESPONSE-999-'));
  return {
    directory: at.rules,
    setup: ['crs-setup.conf', ...before].map((name) => join(at.setup, name)),
    rules: [...rules.map((name) => join(at.rules, name)), ...after.map((name) => join(at.setup, name))],
  };
};
