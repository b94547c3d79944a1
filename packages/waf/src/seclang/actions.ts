import type { ActionNode, Text } from './ast.ts';
import type { DiagnosticSink } from './diagnostic.ts';

/** Parses `name,name:value,name:'quoted value, with commas'`; reports what it cannot read and goes on behind it. */
export const parseActions = (text: Text, diagnostics: DiagnosticSink): ActionNode[] => {
  const source = text.value;
  const actions: ActionNode[] = [];
  let at = 0;
  for (;;) {
    while (at < source.length && /[\s,]/.test(source[at]!)) at++;
    if (at === source.length) return actions;
    const start = at;
    const name = /^[A-Za-z][A-Za-z0-9_-]*/.exec(source.slice(at))?.[0];
    if (name === undefined) {
      const token = /^[^,]*/.exec(source.slice(at))![0];
      diagnostics.error(text.placeOf(at), 'This is not an action', token.slice(0, 40), 'an action name such as deny');
      at += Math.max(1, token.length);
      continue;
    }
    at += name.length;
    while (at < source.length && /\s/.test(source[at]!)) at++;
    let value: string | null = null;
    let valuePlace = text.placeOf(at);
    if (source[at] === ':') {
      at++;
      while (at < source.length && /\s/.test(source[at]!)) at++;
      valuePlace = text.placeOf(at);
      const read = source[at] === "'" ? readQuoted(source, at) : readBare(source, at);
      if (read === null) {
        diagnostics.error(
          text.placeOf(at),
          `The value of ${name} is never closed`,
          source.slice(at, at + 40),
          "a closing '",
        );
        return actions;
      }
      value = read.value;
      at = read.end;
    }
    while (at < source.length && /\s/.test(source[at]!)) at++;
    if (at < source.length && source[at] !== ',') {
      const token = /^[^,]*/.exec(source.slice(at))![0];
      diagnostics.error(text.placeOf(at), `Unexpected text after the action ${name}`, token.slice(0, 40), 'a comma');
      at += token.length;
    }
    actions.push({ place: text.placeOf(start), name: name.toLowerCase(), value, valuePlace });
  }
};

const readQuoted = (source: string, open: number): { value: string; end: number } | null => {
  let value = '';
  for (let at = open + 1; at < source.length; at++) {
    const char = source[at]!;
    if (char === '\\' && source[at + 1] === "'") {
      value += "'";
      at++;
    } else if (char === "'") {
      return { value, end: at + 1 };
    } else {
      value += char;
    }
  }
  return null;
};

const readBare = (source: string, start: number): { value: string; end: number } => {
  const raw = /^[^,]*/.exec(source.slice(start))![0];
  return { value: raw.trimEnd(), end: start + raw.length };
};
