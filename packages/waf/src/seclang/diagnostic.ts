/** A place in rule source: `line` and `column` count from 1, columns in bytes. */
export type Place = { readonly file: string; readonly line: number; readonly column: number };

/** What is wrong in rule text, where, and what would have been right. An `error` means the rule set does not load. */
export type Diagnostic = Place & {
  readonly severity: 'error' | 'warning';
  /** One sentence: what is wrong and why. */
  readonly message: string;
  /** The offending token as written; empty at the end of a line or file. */
  readonly token: string;
  /** What would have been accepted there, in words; empty when nothing shorter than the message can be said. */
  readonly expected: string;
};

/** Collects diagnostics while a front end goes on reading, so that one run reports every mistake. */
export type DiagnosticSink = {
  error(place: Place, message: string, token?: string, expected?: string): void;
  warning(place: Place, message: string, token?: string, expected?: string): void;
};

/** A sink that appends to `into`. */
export const collectDiagnostics = (into: Diagnostic[]): DiagnosticSink => {
  const add =
    (severity: Diagnostic['severity']) =>
    (place: Place, message: string, token = '', expected = ''): void => {
      const { file, line, column } = place;
      into.push({ file, line, column, severity, message, token, expected });
    };
  return { error: add('error'), warning: add('warning') };
};

/** `file:line:column: severity: message (near "token"; expected …)`, the form editors understand. */
export const formatDiagnostic = (diagnostic: Diagnostic): string => {
  const { file, line, column, severity, message, token, expected } = diagnostic;
  const hints = [token === '' ? '' : `near "${token}"`, expected === '' ? '' : `expected ${expected}`].filter(Boolean);
  return `${file}:${line}:${column}: ${severity}: ${message}${hints.length > 0 ? ` (${hints.join('; ')})` : ''}`;
};
