import { parseActions } from './actions.ts';
import { splitArguments } from './arguments.ts';
import type { Dialect, Directive, Text } from './ast.ts';
import type { DiagnosticSink, Place } from './diagnostic.ts';
import { readLogicalLines } from './logical-lines.ts';
import { parseOperator } from './operator.ts';
import { resolveBeside } from './resolve-beside.ts';
import { parseTargets } from './targets.ts';

/** How Include reaches other files (Latin-1 text; `read` throws when it cannot), and how quotes are read. */
export type ParseEnv = {
  readonly expand: (pattern: string) => readonly string[];
  readonly read: (path: string) => string;
  readonly dialect: Dialect;
};

const maxIncludeDepth = 16;

/** Parses SecLang text into directives in file order, with Include expanded in place. Mistakes go to `diagnostics`; it never throws. */
export const parseSecLang = (file: string, source: string, env: ParseEnv, diagnostics: DiagnosticSink): Directive[] => {
  const directives: Directive[] = [];
  readFileInto(directives, file, source, env, diagnostics, [file]);
  return directives;
};

const readFileInto = (
  into: Directive[],
  file: string,
  source: string,
  env: ParseEnv,
  diagnostics: DiagnosticSink,
  stack: readonly string[],
): void => {
  for (const line of readLogicalLines(file, source, diagnostics)) {
    const words = splitArguments(line, env.dialect, diagnostics);
    const head = words?.[0];
    if (words === null || head === undefined) continue;
    const place = head.placeOf(0);
    const name = head.value.toLowerCase();
    if (name === 'include' || name === 'includeoptional') {
      readInclude(into, words, name === 'includeoptional', env, diagnostics, stack, place);
      continue;
    }
    const directive = readDirective(head, name, words.slice(1), line, diagnostics);
    if (directive !== null) into.push(directive);
  }
};

const readInclude = (
  into: Directive[],
  words: readonly Text[],
  isOptional: boolean,
  env: ParseEnv,
  diagnostics: DiagnosticSink,
  stack: readonly string[],
  place: Place,
): void => {
  const pattern = words[1];
  if (pattern === undefined || words.length > 2) {
    diagnostics.error(place, 'Include takes exactly one path', words[2]?.value ?? '', 'one path or pattern');
    return;
  }
  const patternPlace = pattern.placeOf(0);
  if (stack.length >= maxIncludeDepth) {
    diagnostics.error(patternPlace, `Include is nested deeper than ${maxIncludeDepth} files`, pattern.value);
    return;
  }
  const beside = resolveBeside(patternPlace.file, pattern.value);
  const found = env.expand(beside);
  // ModSecurity 3 takes paths relative to the working directory as well.
  const paths = found.length > 0 || beside === pattern.value ? found : env.expand(pattern.value);
  if (paths.length === 0 && !isOptional) {
    diagnostics.error(patternPlace, 'No file matches this Include', pattern.value, 'a path that exists');
  }
  for (const path of paths) {
    if (stack.includes(path)) {
      diagnostics.error(patternPlace, 'This Include leads back to a file that is being read', path);
      continue;
    }
    let text: string;
    try {
      text = env.read(path);
    } catch (cause) {
      diagnostics.error(patternPlace, `Cannot read the included file: ${(cause as Error).message}`, path);
      continue;
    }
    readFileInto(into, path, text, env, diagnostics, [...stack, path]);
  }
};

const readDirective = (
  head: Text,
  name: string,
  args: readonly Text[],
  line: Text,
  diagnostics: DiagnosticSink,
): Directive | null => {
  const place = head.placeOf(0);
  const endPlace = line.placeOf(line.value.length);
  const arity = (least: number, most: number, expected: string): boolean => {
    if (args.length >= least && args.length <= most) return true;
    const extra = args[most];
    const where = extra === undefined ? endPlace : extra.placeOf(0);
    diagnostics.error(where, `${head.value} takes ${expected}`, extra?.value.slice(0, 40) ?? '', expected);
    return false;
  };
  switch (name) {
    case 'secrule': {
      if (!arity(2, 3, 'variables, an operator and (optionally) actions')) return null;
      const targets = parseTargets(args[0]!, diagnostics);
      if (targets.length > 0 && targets.every(({ mode }) => mode === 'exclude')) {
        const expected = 'a variable to look at besides those left out';
        diagnostics.error(args[0]!.placeOf(0), 'This rule looks at nothing', args[0]!.value.slice(0, 40), expected);
      }
      const operator = parseOperator(args[1]!, diagnostics);
      const actions = args[2] === undefined ? [] : parseActions(args[2], diagnostics);
      return { kind: 'rule', place, targets, operator, actions };
    }
    case 'secaction':
      return arity(1, 1, 'one list of actions')
        ? { kind: 'action', place, actions: parseActions(args[0]!, diagnostics) }
        : null;
    case 'secdefaultaction':
      if (!arity(1, 1, 'one list of actions')) return null;
      return { kind: 'default-action', place, actions: parseActions(args[0]!, diagnostics) };
    case 'secmarker':
      return arity(1, 1, 'one label') ? { kind: 'marker', place, label: args[0]!.value } : null;
    default:
      return { kind: 'setting', place, name: head.value, args };
  }
};
