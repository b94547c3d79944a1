/** Neither database gets booleans: SQLite can't bind them, and one form for both keeps one code path. */
export const toFlag = (value: boolean): number => (value ? 1 : 0);

type Flagged<T, K extends keyof T> = Omit<T, K> & Record<K, number>;

/** Turns the named boolean fields into 0/1; absent fields stay absent. */
export const flagsToRow = <T extends object, K extends keyof T>(fields: T, names: readonly K[]): Flagged<T, K> => {
  const row = { ...fields } as Record<PropertyKey, unknown>;
  for (const name of names) if (name in fields) row[name] = toFlag(Boolean(fields[name]));
  return row as Flagged<T, K>;
};
