/** A piece of text that stands where another one stood: from `at` on, columns of the line are off by `shift`. */
interface Shift {
  at: number;
  shift: number;
}

export interface Substituted {
  text: string;
  /** In the order of the text. */
  shifts: Shift[];
  /** Variables that have neither a value nor a default, each once, with where they stand in `text`. */
  unknown: { name: string; at: number }[];
}

/**
 * Puts values in the place of `{$NAME}` and `{$NAME:default}`, as Caddy does before it looks at anything else. What has
 * neither value nor default stays as it is, so that whoever reads on sees that something is missing.
 */
export const substituteVariables = (source: string, lookUp: (name: string) => string | undefined): Substituted => {
  const pieces: string[] = [];
  const shifts: Shift[] = [];
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
    pieces.push(before, put);
    written += before.length + put.length;
    read = end + 1;
    begin = read;
    if (value !== undefined) shifts.push({ at: written, shift: read - written });
  }
  pieces.push(source.slice(read));
  return { text: pieces.join(''), shifts, unknown: Array.from(unknown, ([name, at]) => ({ name, at })) };
};
