import { isMap, isNode, isSeq } from 'yaml';
import { warn } from '../loss.ts';
import type { Place, SourceError, SourceFile } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { lineOf } from '../text-of.ts';
import { readYaml, TooMuchYaml, YamlError } from '../yaml.ts';

/** Ten thousand hosts with fifteen fields each have less; YAML is read slowly. */
const MOST_MARKS = 1_000_000;

/** A document of ours, nothing of it looked at. */
export interface OwnDocument {
  sections: Readonly<Record<string, unknown>>;
  /** Where the host with this number is. */
  placeOfHost: (index: number) => Place;
}

/** What is wrong with all of it, and where. */
export class DocumentError extends Error {
  readonly found: SourceError;

  constructor(at: Place, message: string, text: string) {
    super(message);
    this.name = 'DocumentError';
    this.found = { ...warn(at, message), text: shorten(text.trim(), 200) };
  }
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The hosts of a document, whatever they are. */
export const hostsIn = ({ proxy_hosts }: OwnDocument['sections']): unknown[] =>
  Array.isArray(proxy_hosts) ? proxy_hosts : [];

/** Lines and columns of the hosts of a JSON document: where their domains stand, one after the other, as far as they are written plainly. */
const placesOf = (text: string, hosts: readonly unknown[]): Omit<Required<Place>, 'file'>[] => {
  let line = 1;
  let start = 0;
  let newline = text.indexOf('\n');
  let from = text.indexOf('"proxy_hosts"');
  const places: Omit<Required<Place>, 'file'>[] = [];
  for (const host of hosts) {
    const domain = isObject(host) ? host.domain : undefined;
    const found = from === -1 || typeof domain !== 'string' ? -1 : text.indexOf(JSON.stringify(domain), from);
    // To look for the others, too, would be to go through all of the text for each.
    if (found === -1) break;
    for (; newline !== -1 && newline < found; newline = text.indexOf('\n', start)) {
      line += 1;
      start = newline + 1;
    }
    places.push({ line, column: found - start + 1 });
    from = found;
  }
  return places;
};

const asJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Reads a document, JSON or YAML. Throws a `DocumentError`. */
export const readDocument = ({ name: file, content }: SourceFile): OwnDocument => {
  const start = { file, line: 1, column: 1 };
  const json = asJson(content);
  if (isObject(json)) {
    const places = placesOf(content, hostsIn(json));
    return { sections: json, placeOfHost: (index) => ({ ...start, ...(places[index] ?? places.at(-1)) }) };
  }
  try {
    const { value, document, placeOf } = readYaml(content, { mostMarks: MOST_MARKS });
    if (!isObject(value)) throw new DocumentError(start, 'this is no document of Sallyport', lineOf(content, 1));
    const seq = isMap(document.contents) ? document.contents.get('proxy_hosts') : undefined;
    const nodes = isSeq(seq) ? seq.items : [];
    return {
      sections: value,
      placeOfHost(index) {
        const node = nodes[index];
        const offset = isNode(node) ? node.range?.[0] : undefined;
        if (offset === undefined) return start;
        const { line, col } = placeOf(offset);
        return { file, line, column: col };
      },
    };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { line = 1, column = 1, message, text = lineOf(content, line) } = error;
    const why = error instanceof TooMuchYaml ? message : `this is no YAML: ${message}`;
    throw new DocumentError({ file, line, column }, why, text);
  }
};
