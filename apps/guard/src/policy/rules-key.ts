import { statSync } from 'node:fs';
import type { GuardConfig } from '@sallyport/contract';

/** Differs whenever these sources would compile to something else: their text, or the files they name. */
export const rulesKey = (sources: GuardConfig['waf']['rule_sources']): string =>
  JSON.stringify(
    sources.map((source) => {
      if (source.kind === 'text') return source;
      const { mtimeMs, size, ino } = statSync(source.path);
      return { path: source.path, mtimeMs, size, ino };
    }),
  );
