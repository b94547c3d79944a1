import { type Document, LineCounter, parseDocument } from 'yaml';

/** Deeper than any document of ours. */
const MAX_DEPTH = 32;
/** An alias stands for all that it names: a short text may be a long document. */
const MAX_ALIASES = 100;

/** Why a text is not read as YAML; a place is in `line` and `column` where there is one. */
export class YamlError extends Error {
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(message: string, place?: { line: number; col: number }) {
    super(message.slice(0, 200));
    this.name = 'YamlError';
    this.line = place?.line;
    this.column = place?.col;
  }
}

/** What a text says, and how it is written. */
export interface ReadYaml {
  /** Of JSON's types only. */
  value: unknown;
  document: Document;
  /** Where something begins, by its offset. */
  placeOf: (offset: number) => { line: number; col: number };
}

const checkDepth = (value: unknown, depth = 0): void => {
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) throw new YamlError('it is nested too deeply');
  for (const item of Object.values(value)) checkDepth(item, depth + 1);
};

/** Reads YAML within bounds of depth and aliases; how long it may take is for a thread to bound. Throws a `YamlError`. */
export const readYaml = (text: string): ReadYaml => {
  const lineCounter = new LineCounter();
  const placeOf = (offset: number) => lineCounter.linePos(offset);
  try {
    // Of tags only those of JSON's types are known; others are warned of.
    const document = parseDocument(text, { lineCounter, prettyErrors: false, schema: 'core', merge: false });
    const [error] = [...document.errors, ...document.warnings];
    if (error) throw new YamlError(error.message, placeOf(error.pos[0]));
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    checkDepth(value);
    return { value, document, placeOf };
  } catch (error) {
    if (error instanceof YamlError) throw error;
    // Whatever the library stumbles over: nesting without end, aliases without end.
    throw new YamlError(error instanceof RangeError ? 'it is nested too deeply' : (error as Error).message);
  }
};
