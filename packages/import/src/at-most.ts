import type { ImportWarning } from './reading.ts';

/** As many warnings as somebody may want to read, and how many more there are. */
export const atMost = (most: number, warnings: readonly ImportWarning[]): ImportWarning[] => {
  const left = warnings.slice(most);
  const [first] = left;
  return first
    ? [...warnings.slice(0, most), { ...first, message: `and ${left.length} more like the last` }]
    : [...warnings];
};
