import type { OperatorNode, Text } from './ast.ts';
import type { DiagnosticSink } from './diagnostic.ts';

/** Parses `@name argument`, `!@name argument`, `pattern` or `!pattern`; without `@` the operator is rx. */
export const parseOperator = (text: Text, diagnostics: DiagnosticSink): OperatorNode => {
  const source = text.value;
  let at = /^\s*/.exec(source)![0].length;
  const place = text.placeOf(at);
  const isNegated = source[at] === '!';
  if (isNegated) at++;
  while (isNegated && (source[at] === ' ' || source[at] === '\t')) at++;
  if (source[at] !== '@') {
    return { place, isNegated, name: 'rx', argument: source.slice(at), argumentPlace: text.placeOf(at) };
  }
  const name = /^[A-Za-z][A-Za-z0-9_]*/.exec(source.slice(at + 1))?.[0];
  if (name === undefined) {
    diagnostics.error(
      text.placeOf(at),
      'An operator name must follow "@"',
      source.slice(at, at + 20),
      'such as @rx or @pm',
    );
    return { place, isNegated, name: 'nomatch', argument: '', argumentPlace: place };
  }
  at += 1 + name.length;
  const gap = /^\s*/.exec(source.slice(at))![0].length;
  return {
    place,
    isNegated,
    name: name.toLowerCase(),
    argument: source.slice(at + gap),
    argumentPlace: text.placeOf(at + gap),
  };
};
