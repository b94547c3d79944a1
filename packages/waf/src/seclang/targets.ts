import type { Selector, TargetNode, Text } from './ast.ts';
import type { DiagnosticSink } from './diagnostic.ts';

const variableName = /^[A-Za-z_][A-Za-z0-9_]*/;

/** Parses `VAR|VAR:name|VAR:/regex/|VAR:'/re|gex/'|!VAR:name|&VAR|XML:/*`; reports what it cannot read and goes on. */
export const parseTargets = (text: Text, diagnostics: DiagnosticSink): TargetNode[] => {
  const source = text.value;
  const targets: TargetNode[] = [];
  let at = 0;
  while (at < source.length) {
    while (at < source.length && /[\s|,]/.test(source[at]!)) at++;
    if (at === source.length) break;
    const start = at;
    let mode: TargetNode['mode'] = 'use';
    if (source[at] === '!') mode = 'exclude';
    else if (source[at] === '&') mode = 'count';
    if (mode !== 'use') at++;
    const name = variableName.exec(source.slice(at))?.[0];
    if (name === undefined) {
      const token = /^[^|]*/.exec(source.slice(at))?.[0] ?? '';
      diagnostics.error(text.placeOf(at), 'This is not a variable', token.slice(0, 40), 'a variable name such as ARGS');
      at += token.length;
      continue;
    }
    at += name.length;
    const variable = name.toUpperCase();
    let selector: Selector | null = null;
    // ModSecurity 3 takes the dot of macros as well.
    if (source[at] === ':' || source[at] === '.') {
      const read = readSelector(source, at + 1, variable);
      if (read === null) {
        diagnostics.error(
          text.placeOf(at + 1),
          `The selector of ${variable} does not end`,
          source.slice(at + 1, at + 41),
        );
        return targets;
      }
      selector = read.selector;
      at = read.end;
      if (selector.kind === 'literal' && selector.name === '') {
        diagnostics.error(
          text.placeOf(at),
          `${variable}: names nothing`,
          source.slice(start, at),
          'a name after the colon',
        );
      }
    }
    if (at < source.length && !/[\s|,]/.test(source[at]!)) {
      const token = /^[^|]*/.exec(source.slice(at))?.[0] ?? '';
      diagnostics.error(text.placeOf(at), 'Unexpected text after a variable', token.slice(0, 40), '"|" or ":"');
      at += token.length;
      continue;
    }
    targets.push({ place: text.placeOf(start), mode, variable, selector, source: source.slice(start, at) });
  }
  if (targets.length === 0 && source.trim() === '') {
    diagnostics.error(text.placeOf(0), 'A rule needs at least one variable', '', 'a variable name such as ARGS');
  }
  return targets;
};

const readSelector = (source: string, from: number, variable: string): { selector: Selector; end: number } | null => {
  const isQuoted = source[from] === "'";
  const start = isQuoted ? from + 1 : from;
  if (variable === 'XML' && !isQuoted) {
    const path = /^[^|]*/.exec(source.slice(start))![0].trimEnd();
    return { selector: { kind: 'xpath', path }, end: start + path.length };
  }
  if (source[start] === '/') {
    // A slash ends the expression only where the target ends: unescaped, and followed by the quote, a bar or nothing.
    for (let at = start + 1; at < source.length; at++) {
      if (source[at] === '\\') {
        at++;
        continue;
      }
      if (source[at] !== '/') continue;
      const next = source[at + 1];
      const ends = isQuoted ? next === "'" : next === undefined || /[\s|,]/.test(next);
      if (!ends) continue;
      const expression = source.slice(start + 1, at).replaceAll('\\/', '/');
      return { selector: { kind: 'regex', source: expression }, end: at + (isQuoted ? 2 : 1) };
    }
    return null;
  }
  if (isQuoted) {
    const end = source.indexOf("'", start);
    return end === -1 ? null : { selector: { kind: 'literal', name: source.slice(start, end) }, end: end + 1 };
  }
  const name = /^[^|,\s]*/.exec(source.slice(start))![0];
  return { selector: { kind: 'literal', name }, end: start + name.length };
};
