/** What a part's Content-Disposition says; strings are Latin-1. `error` is null when it is well-formed. */
export interface DispositionFacts {
  name: string | null;
  filename: string | null;
  /** `filename*`, its percent-encoding undone. */
  extendedFilename: string | null;
  error: string | null;
  isQuotingInvalid: boolean;
}

const isTokenCharacter = (char: string): boolean => char > ' ' && char < '\x7f' && !'()<>@,;:\\"/[]?='.includes(char);
/** RFC 5987 ext-value: charset'language'percent-encoded. */
const extendedValue = /[A-Za-z0-9!#$%&+\-^_`{}~]+'[^']*'(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9!#$&+\-.^_`|~])*/y;
const blanks = /[\t ]*/y;
const parameterName = /[^=\t ]*/y;

const decoded = (text: string): string =>
  text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Reads `form-data; name="…"; filename="…"` (RFC 7578), as strictly as ModSecurity, but keeps what came before an error. */
export const readDisposition = (value: string): DispositionFacts => {
  const facts: DispositionFacts = {
    name: null,
    filename: null,
    extendedFilename: null,
    error: null,
    isQuotingInvalid: false,
  };
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(value)?.[0] ?? '';
    at += found.length;
    return found;
  };
  const fail = (reason: string): DispositionFacts => {
    facts.error = reason;
    return facts;
  };
  const quoted = (quote: string): string => {
    let text = '';
    at++;
    while (at < value.length && value[at] !== quote) {
      // Only the quote and the backslash are escaped; elsewhere a backslash stands for itself, as old browsers send paths.
      if (value[at] === '\\' && (value[at + 1] === quote || value[at + 1] === '\\')) at++;
      text += value[at++];
    }
    at++;
    return text;
  };

  if (!value.startsWith('form-data')) return fail('not form-data');
  at = 'form-data'.length;
  take(blanks);
  if (at >= value.length) return facts;
  if (value[at] !== ';') return fail('no semicolon after form-data');
  at++;
  while (at < value.length) {
    take(blanks);
    const parameter = take(parameterName);
    take(blanks);
    if (value[at] !== '=') return fail('parameter without a value');
    at++;
    take(blanks);
    if (at >= value.length) return fail('parameter without a value');
    let text: string;
    const first = value[at]!;
    if (parameter === 'filename*') {
      text = take(extendedValue);
      if (text === '') return fail('malformed filename*');
    } else if (first === '"' || first === "'") {
      if (first === "'") facts.isQuotingInvalid = true;
      text = quoted(first);
      if (at > value.length) return fail('unterminated quotes');
    } else {
      const from = at;
      while (at < value.length && isTokenCharacter(value[at]!)) at++;
      text = value.slice(from, at);
    }
    if (parameter === 'name' || parameter === 'filename') {
      if (first !== '"' && text.includes("'")) facts.isQuotingInvalid = true;
      if (facts[parameter] !== null) return fail(`more than one ${parameter}`);
      facts[parameter] = text;
    } else if (parameter === 'filename*') {
      if (facts.extendedFilename !== null) return fail('more than one filename*');
      facts.extendedFilename = decoded(text.slice(text.lastIndexOf("'") + 1));
    } else {
      return fail('unknown parameter');
    }
    take(blanks);
    if (at >= value.length) break;
    if (value[at] !== ';') {
      if (first === '"') facts.isQuotingInvalid = true;
      return fail('no semicolon after a parameter');
    }
    at++;
    if (at >= value.length) break;
  }
  if (facts.extendedFilename !== null && facts.filename === null) return fail('filename* without filename');
  return facts;
};
