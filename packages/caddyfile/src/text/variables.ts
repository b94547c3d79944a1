/** Where texts stand in the place of others: from each `at` on, columns of the line are off by the `by` of the same index. */
export interface Shifts {
  at: number[];
  by: number[];
}

export interface Substituted {
  text: string;
  /** In the order of the text. */
  shifts: Shifts;
  /** Variables that have neither a value nor a default, each once, with where they stand in `text`. */
  unknown: { name: string; at: number }[];
}

/**
 * Puts values in the place of `{$NAME}` and `{$NAME:default}`, as Caddy does before it looks at anything else. What has
 * neither value nor default stays as it is, so that whoever reads on sees that something is missing.
 */
export const substituteVariables = (source: string, lookUp: (name: string) => string | undefined): Substituted => {
  const pieces: string[] = [];
  // Two lists of numbers: there may be millions.
  const shifts: Shifts = { at: [], by: [] };
  const unknown = new Map<string, number>();
  let [read, written] = [0, 0];
  for (let begin = source.indexOf('{$'); begin !== -1; begin = source.indexOf('{$', begin)) {
    const end = source.indexOf('}', begin + 2);
    if (end === -1) break;
    const inside = source.slice(begin + 2, end);
    const colon = inside.indexOf(':');
    const name = colon === -1 ? inside : inside.slice(0, colon);
    const value = inside === '' ? undefined : (lookUp(name) ?? (colon === -1 ? undefined : inside.slice(colon + 1)));
    const before = source.slice(read, begin);
    const put = value ?? source.slice(begin, end + 1);
    if (value === undefined && inside !== '' && !unknown.has(name)) unknown.set(name, written + before.length);
    if (before !== '') pieces.push(before);
    pieces.push(put);
    written += before.length + put.length;
    read = end + 1;
    begin = read;
    if (value === undefined) continue;
    shifts.at.push(written);
    shifts.by.push(read - written);
  }
  pieces.push(source.slice(read));
  return { text: pieces.join(''), shifts, unknown: Array.from(unknown, ([name, at]) => ({ name, at })) };
};
