import {
  Composer,
  type CST,
  type Document,
  isScalar,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  visit,
  type YAMLMap,
} from 'yaml';
import { clean } from './clean.ts';
import { shorten } from './shorten.ts';

/** Deeper than any document of ours. */
const MAX_DEPTH = 32;
/** What is open while a text is read: one for each level. */
const MAX_OPEN = 400;
/** An alias stands for all that it names: a short text may be a long document. */
const MAX_ALIASES = 100;
/** As much of a line as is shown, and how much of that stands before what is wrong. */
const MAX_SHOWN = 200;
const BEFORE = 40;

/** Where something stands: 1-based. */
interface YamlPlace {
  line: number;
  col: number;
}

/** Why a text is not read as YAML; where that is known, with its place and what stands there. */
export class YamlError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Of one line, at most 200 characters. */
  readonly text: string | undefined;

  constructor(message: string, place?: YamlPlace, text?: string) {
    super(message.slice(0, 200));
    this.name = 'YamlError';
    this.line = place?.line;
    this.column = place?.col;
    this.text = text;
  }
}

/** A text that is too long to be looked at. */
export class TooMuchYaml extends YamlError {}

/** A text as it is written. */
export interface YamlDocument {
  document: Document.Parsed<ParsedNode>;
  /** Where something begins, by its offset. */
  placeOf: (offset: number) => YamlPlace;
  /** An error about what stands there. */
  wrong: (offset: number, message: string) => YamlError;
}

/** What a text says, and how it is written. */
export interface ReadYaml extends YamlDocument {
  /** Of JSON's types only. */
  value: unknown;
}

/** The line that an offset is in, as it may be shown; of a long one what is around it. */
const lineAround = (text: string, offset: number): string => {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const from = offset - start > MAX_SHOWN - BEFORE ? offset - BEFORE : start;
  const [line = ''] = text.slice(from, from + MAX_SHOWN + 1).split('\n');
  return shorten(clean(line).trim(), MAX_SHOWN);
};

const TOO_DEEP = 'it is nested too deeply';

/** What may be read, and how. */
interface YamlBounds {
  /** Most words and marks; any number unless it is given. */
  mostMarks?: number;
  /** Takes the first of several documents, and texts for what has a tag of somebody's own. */
  isLenient?: boolean;
}

/** The words and marks of a text. Throws a `YamlError` when there are more of them. */
const marksOf = (text: string, most: number): string[] => {
  const marks: string[] = [];
  for (const mark of new Lexer().lex(text)) {
    if (marks.push(mark) > most)
      throw new TooMuchYaml(`there are more than ${most} words and marks in it: write it as JSON, which may have more`);
  }
  return marks;
};

/**
 * Reads one document of YAML. A million words and marks take about a second, whatever they are; more than `mostMarks` are refused
 * before anything is made of them. Throws a `YamlError` for the first thing that is wrong; keys may be there twice.
 */
export const parseYaml = (
  text: string,
  { mostMarks = Number.POSITIVE_INFINITY, isLenient = false }: YamlBounds = {},
): YamlDocument => {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const placeOf = (offset: number): YamlPlace => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), col: Math.max(1, col) };
  };
  const last = text.trimEnd().length - 1;
  const wrong = (offset: number, message: string): YamlError => {
    // What lacks its end is wrong at the end of the text, where nothing stands.
    const at = Math.max(0, Math.min(offset, last));
    return new YamlError(message, placeOf(at), lineAround(text, at));
  };
  const marks = marksOf(text, mostMarks);
  const parser = new Parser(lines.addNewLine);
  function* tokens(): Generator<CST.Token> {
    for (const mark of marks) {
      yield* parser.next(mark);
      // All that is open may be looked at for each mark.
      if (parser.stack.length > MAX_OPEN) throw wrong(parser.offset - 1, TOO_DEEP);
    }
    yield* parser.end();
  }
  const { stackTraceLimit } = Error;
  // Each thing that is wrong is an error object of the library, and there may be a million: where they were made nobody asks.
  Error.stackTraceLimit = 0;
  try {
    // Keys that are there twice are looked for elsewhere: the library compares each of a map with all before it.
    const composer = new Composer({ schema: 'core', merge: false, uniqueKeys: false });
    const [document, second] = composer.compose(tokens(), true, text.length);
    if (!document) throw new Error('the library makes a document of an empty text, too');
    const [problem] = isLenient ? document.errors : [...document.errors, ...document.warnings];
    if (problem) throw wrong(problem.pos[0], problem.message);
    if (second && !isLenient) throw wrong(second.range[0], 'there is another document, and only one is read');
    return { document, placeOf, wrong };
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError(TOO_DEEP);
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

const checkKeys = ({ document, wrong }: YamlDocument): void =>
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items as YAMLMap<ParsedNode>['items']) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value))
          throw wrong(key.range?.[0] ?? 0, `the key ${shorten(String(key.value))} is there twice`);
        seen.add(key.value);
      }
    },
  });

const checkDepth = (value: unknown, depth = 0): void => {
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) throw new YamlError(TOO_DEEP);
  for (const item of Object.values(value)) checkDepth(item, depth + 1);
};

/** Reads YAML within bounds of depth and aliases. Throws a `YamlError`. */
export const readYaml = (text: string, bounds: Pick<YamlBounds, 'mostMarks'> = {}): ReadYaml => {
  const read = parseYaml(text, bounds);
  try {
    checkKeys(read);
    const value: unknown = read.document.toJS({ maxAliasCount: MAX_ALIASES });
    checkDepth(value);
    return { ...read, value };
  } catch (error) {
    if (error instanceof YamlError) throw error;
    // Whatever the library stumbles over: nesting without end, aliases without end.
    throw new YamlError(error instanceof RangeError ? TOO_DEEP : (error as Error).message);
  }
};
