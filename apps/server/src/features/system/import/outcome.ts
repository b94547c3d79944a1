import type { ImportSessionReport } from '@sallyport/contract';

type Counts = NonNullable<ImportSessionReport['outcome']>;

/** What is kept of a committed session: how many hosts it brought, and their names. */
export const toOutcome = (counts: Counts, names: readonly string[]): string => JSON.stringify({ ...counts, names });

/** The counts of what `toOutcome` made; null for a session that came to nothing. */
export const countsOf = (outcome: string | null): Counts | null => {
  if (outcome === null) return null;
  const { imported, skipped, failed } = JSON.parse(outcome) as Counts;
  return { imported, skipped, failed };
};

/** The names that a session imported; none for one that was committed before they were kept. */
export const namesOf = (outcome: string | null): string[] =>
  outcome === null ? [] : ((JSON.parse(outcome) as { names?: string[] }).names ?? []);
