import { describe, expect, test } from 'vitest';
import { unlessHere } from '../../../../test/support/ftw/rule-sets.ts';
import { type CrsPattern, crs4Folder, debianCrsFolders, readCrsPatterns } from '../../test/support/crs-patterns.ts';
import { readCrsStrings } from '../../test/support/crs-strings.ts';
import { matchWithPerl } from '../../test/support/perl.ts';
import { type CompiledPattern, compilePattern, createBudget, passesGate } from './index.ts';

/** Every n-th string only; 1 compares all, which takes a minute or two. */
const stride = Number(process.env.SALLYPORT_REGEX_STRIDE ?? 23);
const maxStringLength = 4096;

const folders = crs4Folder === undefined ? debianCrsFolders : [...debianCrsFolders, crs4Folder];
const patterns = readCrsPatterns(folders);
const subjects = readCrsStrings(maxStringLength).filter((_, index) => index % stride === 0);
const note = crs4Folder === undefined ? ' (CRS 4 not run: SALLYPORT_CRS4_DIR is not set)' : '';

describe(`the ${patterns.length} patterns of the Core Rule Set${note}`, () => {
  const compiled = patterns.map((pattern): CrsPattern & { pattern: CompiledPattern } => ({
    ...pattern,
    pattern: compilePattern(pattern.source),
  }));

  test.skipIf(subjects.length === 0)(
    `match ${subjects.length} strings of its tests as Perl does${unlessHere(subjects.length > 0)}`,
    () => {
      const differences: unknown[] = [];
      matchWithPerl(
        patterns.map(({ source }) => source),
        subjects,
      ).forEach((matches, index) => {
        const { ruleId, pattern } = compiled[index]!;
        if (typeof matches === 'string') throw new Error(`Perl refused the pattern of ${ruleId}: ${matches}`);
        subjects.forEach((subject, subjectIndex) => {
          const bytes = Buffer.from(subject, 'latin1');
          const budget = createBudget(100_000_000);
          const found = pattern.exec(bytes, 0, bytes.length, budget);
          const isFound = pattern.test(bytes, 0, bytes.length, budget);
          const ours = found && [...found].map((offset, slot) => (found[slot ^ 1]! < 0 ? -1 : offset)).join();
          const theirs = matches.get(subjectIndex)?.join() ?? null;
          const isGated = theirs !== null && !passesGate(pattern.gate, bytes, 0, bytes.length);
          if (ours !== theirs || isFound !== (theirs !== null) || isGated || budget.exceeded) {
            differences.push({ ruleId, subject, ours, theirs, isFound, isGated });
          }
        });
      });
      expect(differences).toEqual([]);
    },
  );
});
