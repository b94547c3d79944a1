import { isExcluded, selects } from '../../model/name-selection.ts';
import { isResponseSource, sourceCount } from '../../model/source.ts';
import { createLiteralSearch } from './literal-search.ts';
import { buildClass, type ScanClass, type ValueScanner } from './scan-class.ts';
import type { ScanTest } from './scan-tests.ts';
import { createValueScanner, type ScanScratch } from './value-scanner.ts';

const maxNames = 2_048;
const maxClasses = 512;

/** Which tests of some groups apply to which values. Classes are built when a value first needs them. */
export const createScanPlan = (tests: readonly ScanTest[], testCount: number, scratch: ScanScratch) => {
  // Responses are searched for phrases of their own, thousands of them: requests need not carry those.
  const isOfResponse = ({ link }: ScanTest): boolean =>
    link.targets.every(({ sources: from }) => from.every(isResponseSource));
  const scanners = new Map<string, ValueScanner>();
  const scannerFor = (chosen: readonly ScanTest[]): ValueScanner => {
    const ofResponse = chosen.filter(isOfResponse).length;
    const kind = ofResponse === 0 ? 'request' : ofResponse === chosen.length ? 'response' : 'both';
    let scanner = scanners.get(kind);
    if (scanner === undefined) {
      const searched = kind === 'both' ? tests : tests.filter((test) => isOfResponse(test) === (kind === 'response'));
      scanner = createValueScanner(createLiteralSearch(searched, testCount), scratch);
      scanners.set(kind, scanner);
    }
    return scanner;
  };
  const bySource = Array.from({ length: sourceCount }, (_, source) => createSource(source, tests));
  const classes = new Map<string, ScanClass>();

  const classOf = (chosen: readonly ScanTest[]): ScanClass => {
    const signature = chosen.map(({ index }) => index).join();
    let found = classes.get(signature);
    if (found === undefined) {
      if (classes.size >= maxClasses) classes.clear();
      found = buildClass(chosen, scannerFor(chosen));
      classes.set(signature, found);
    }
    return found;
  };

  return {
    /** The class of a value; `key` is its name in lower case. */
    classFor(source: number, key: string): ScanClass {
      const table = bySource[source]!;
      if (!table.hasPatterns && !table.literalKeys.has(key)) {
        table.plain ??= classOf(table.testsFor(null));
        return table.plain;
      }
      let found = table.byKey.get(key);
      if (found === undefined) {
        if (table.byKey.size >= maxNames) table.byKey.clear();
        found = classOf(table.testsFor(key));
        table.byKey.set(key, found);
      }
      return found;
    },
  };
};

export type ScanPlan = ReturnType<typeof createScanPlan>;

const createSource = (source: number, tests: readonly ScanTest[]) => {
  const relevant = tests.filter(({ link }) => link.targets.some((target) => target.sources.includes(source)));
  const selectors = relevant.flatMap(({ link }) => [
    ...link.targets.filter((target) => target.sources.includes(source)).map(({ selector }) => selector),
    ...link.exclusions.map(({ selector }) => selector),
  ]);
  const literalKeys = new Set(selectors.flatMap((selector) => (selector?.kind === 'literal' ? [selector.key] : [])));
  return {
    literalKeys,
    hasPatterns: selectors.some((selector) => selector?.kind === 'regex'),
    byKey: new Map<string, ScanClass>(),
    plain: undefined as ScanClass | undefined,
    /** Tests for values named `key`; null: for names that no selector mentions. */
    testsFor: (key: string | null): ScanTest[] =>
      relevant.filter(({ link }) =>
        link.targets.some(
          ({ sources, selector, variable }) =>
            sources.includes(source) &&
            (key === null ? selector === null : selects(selector, key)) &&
            !(key === null
              ? link.exclusions.some((out) => out.variable === variable && out.selector === null)
              : isExcluded(link.exclusions, variable, key)),
        ),
      ),
  };
};
