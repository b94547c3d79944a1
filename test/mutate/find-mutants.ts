import { type Change, mutators } from './mutators.ts';
import { childOf, type Place, placesOf } from './syntax.ts';

/** One change to one file that a test should notice. */
export interface Mutant extends Change {
  readonly file: string;
  readonly kind: string;
  /** The line it begins in, trimmed: what tells it from others when lines move. */
  readonly code: string;
  readonly line: number;
  /** Constants and functions that it is in, the outermost first. */
  readonly within: readonly string[];
  /** `what was → what is`, shortened; with `code` it names the mutant in the list of explained ones. */
  readonly change: string;
}

const longestShown = 90;

const shorten = (text: string): string => {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > longestShown ? `${flat.slice(0, longestShown)}…` : flat;
};

const NAMING = new Set(['VariableDeclarator', 'FunctionDeclaration', 'MethodDefinition']);

const namesAround = ({ around }: Place): string[] =>
  around
    .filter(({ type }) => NAMING.has(type))
    .map((node) => String((childOf(node, 'id') ?? childOf(node, 'key'))?.name));

/** All mutants of a file, in the order of the text; equal changes that two mutators make are one. */
export const findMutants = (file: string, text: string): readonly Mutant[] => {
  const found = new Map<string, Mutant>();
  for (const place of placesOf(file, text)) {
    for (const [kind, mutate] of mutators) {
      for (const change of mutate(place, text)) {
        const { start, end, replacement } = change;
        const key = `${start} ${end} ${replacement}`;
        const lineStart = text.lastIndexOf('\n', start - 1) + 1;
        const lineEnd = text.indexOf('\n', start);
        if (found.has(key)) continue;
        found.set(key, {
          ...change,
          within: namesAround(place),
          file,
          kind,
          code: text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd).trim(),
          line: text.slice(0, lineStart).split('\n').length,
          change: `${shorten(text.slice(start, end))} → ${shorten(replacement) || 'nothing'}`,
        });
      }
    }
  }
  return [...found.values()].sort((one, other) => one.start - other.start);
};

/** The file's text with the mutant in it. */
export const applyMutant = (text: string, { start, end, replacement }: Change): string =>
  text.slice(0, start) + replacement + text.slice(end);
