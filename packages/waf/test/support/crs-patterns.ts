import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A pattern of a rule set, Latin-1, with the id of the rule it was first seen in. */
export type CrsPattern = { source: string; ruleId: string };

/** Debian's modsecurity-crs, which bin/test installs. */
export const debianCrsFolders = ['/usr/share/modsecurity-crs/rules', '/etc/modsecurity/crs'];

/** The rules folder of a CRS 4 checkout, when the environment names one. */
export const crs4Folder = process.env.SALLYPORT_CRS4_DIR;

/** Every distinct pattern of the `@rx` operators (negated and implied ones too) in the folders' `.conf` files. Throws an `Error` for a folder that is missing. */
export const readCrsPatterns = (folders: string[]): CrsPattern[] => {
  const patterns = new Map<string, string>();
  for (const folder of folders) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.conf'))) {
      const text = readFileSync(join(folder, file), 'latin1').replace(/^[ \t]*#.*\n/gm, '');
      const lines = text.replace(/\\\r?\n[ \t]*/g, ' ');
      for (const rule of lines.matchAll(
        /^[ \t]*SecRule[ \t]+(?:"(?:[^"\\]|\\.)*"|\S+)[ \t]+"((?:[^"\\]|\\.)*)"(.*)$/gm,
      )) {
        const operator = /^!?(?:@rx )?(?!!?@)(.*)$/s.exec(rule[1]!.replaceAll('\\"', '"'));
        const source = operator?.[1]?.trimStart();
        // A macro makes the pattern a matter of the request.
        if (source === undefined || source.includes('%{')) continue;
        if (!patterns.has(source)) patterns.set(source, /\bid:(\d+)/.exec(rule[2]!)?.[1] ?? `chained in ${file}`);
      }
    }
  }
  return [...patterns].map(([source, ruleId]) => ({ source, ruleId }));
};
