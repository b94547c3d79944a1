/** Adds to a list what may be more than a function may have arguments: `push(...more)` would fail beyond a hundred thousand. */
export const addAll = <T>(list: T[], more: Iterable<T>): void => {
  for (const one of more) list.push(one);
};
