import { normaliseName } from './certificate-name.ts';

const setOf = (names: readonly string[]): string => [...new Set(names.map(normaliseName))].sort().join();

/** Whether two lists hold the same names, in whatever order and spelling. */
export const sameNames = (some: readonly string[], others: readonly string[]): boolean => setOf(some) === setOf(others);
