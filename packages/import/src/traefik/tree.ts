import { parse as parseToml, TomlError } from 'smol-toml';
import { type Alias, isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import { warn } from '../loss.ts';
import type { Place, SourceError, SourceFile } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { lineOf } from '../text-of.ts';
import { parseYaml, type YamlDocument, YamlError } from '../yaml.ts';

/** A value of a file with its place; keys are lower case, since Traefik does not tell them apart. */
export interface Tree {
  at: Place;
  /** What it says, when it is one word. */
  text: string | undefined;
  items: Tree[];
  fields: Map<string, Tree>;
}

/** Ten thousand routers with their services have half of both; YAML is read slowly. */
const MAX_LENGTH = 4 * 2 ** 20;
const MAX_LINES = 150_000;
const MAX_DEPTH = 100;
/** Values, those behind aliases counted as often as they are used. */
const MAX_VALUES = 500_000;

/** What is wrong with a file, and where. */
export class TraefikError extends Error {
  readonly found: SourceError;

  constructor(message: string, at: Place, text?: string) {
    super(message);
    this.name = 'TraefikError';
    this.found = { ...warn(at, message), ...(text !== undefined && { text: shorten(text, 200) }) };
  }
}

export const leaf = (at: Place, text?: string): Tree => ({ at, text, items: [], fields: new Map() });

const MOST_PARTS = 12;

/** Puts a value at a path of names, as labels and flags say it. */
export const put = (root: Tree, path: readonly string[], value: Tree): void => {
  let current = root;
  for (const part of path.slice(0, MOST_PARTS)) {
    const next = current.fields.get(part) ?? leaf(value.at);
    current.fields.set(part, next);
    current = next;
  }
  current.text = value.text;
};

/** Refuses what would take long to read. */
const checkSize = (text: string, at: Place): void => {
  if (text.length > MAX_LENGTH) throw new TraefikError('a file of Traefik may have 4 MiB', at);
  let lines = 0;
  for (const _ of text.matchAll(/[\n,]|- /g)) {
    if (++lines > MAX_LINES) throw new TraefikError(`there are more than ${MAX_LINES} lines and entries of lists`, at);
  }
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > MAX_DEPTH) throw new TraefikError(`there are more than ${MAX_DEPTH} brackets in each other`, at);
  }
};

class YamlReader {
  readonly #file: string;
  readonly #document: YamlDocument;
  readonly #anchors = new Map<string, Node>();
  #left = MAX_VALUES;

  /** Throws a `YamlError`. */
  constructor({ name, content }: SourceFile) {
    this.#file = name;
    this.#document = parseYaml(content, { isLenient: true });
  }

  #at(offset: number | undefined): Place {
    const { line, col } = this.#document.placeOf(offset ?? 0);
    return { file: this.#file, line, column: col };
  }

  read(): Tree {
    return this.#tree(this.#document.document.contents, 0, { file: this.#file, line: 1, column: 1 });
  }

  #tree(node: unknown, depth: number, around: Place): Tree {
    const place = (node as Node | null)?.range ? this.#at((node as Node).range![0]) : around;
    if (--this.#left < 0) throw new TraefikError('there is too much in it, or behind its aliases', place);
    if (depth > MAX_DEPTH) throw new TraefikError(`there are more than ${MAX_DEPTH} levels`, place);
    if (isAlias(node)) return { ...this.#tree(this.#behind(node, place), depth + 1, place), at: place };
    const anchor = (node as (Node & { anchor?: string }) | null)?.anchor;
    const tree = leaf(place);
    if (isScalar(node)) tree.text = node.value === null ? undefined : String(node.source ?? node.value);
    else if (isSeq(node)) tree.items = node.items.map((item) => this.#tree(item, depth + 1, place));
    else if (isMap(node)) {
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value).toLowerCase() : '';
        const at = (key as Node | null)?.range ? this.#at((key as Node).range![0]) : place;
        const below = { ...this.#tree(value, depth + 1, at), at };
        // What is merged in gives way to what is there.
        const merged = name === '<<' ? [below, ...below.items] : [];
        for (const [inner, one] of merged.flatMap(({ fields }) => [...fields])) {
          if (!tree.fields.has(inner)) tree.fields.set(inner, one);
        }
        if (name !== '<<') tree.fields.set(name, below);
      }
    }
    if (anchor) this.#anchors.set(anchor, node as Node);
    return tree;
  }

  #behind({ source }: Alias, place: Place): Node {
    const node = this.#anchors.get(source);
    if (!node) throw new TraefikError('this alias is of nothing that was there before it', place, `*${source}`);
    return node;
  }
}

const fromToml = ({ name, content }: SourceFile): Tree => {
  const headings = new Map<string, number>();
  for (const [index, line] of content.split('\n').entries()) {
    const heading = /^[\t ]*\[{1,2}([^[\]#]+)\]/.exec(line)?.[1];
    if (heading !== undefined) headings.set(heading.replaceAll(/[\s"']/g, '').toLowerCase(), index + 1);
  }
  let left = MAX_VALUES;
  const toTree = (value: unknown, path: string, line: number): Tree => {
    const at = { file: name, line: headings.get(path) ?? line, column: 1 };
    if (--left < 0) throw new TraefikError('there is too much in it', at);
    const tree = leaf(at);
    if (Array.isArray(value)) tree.items = value.map((one) => toTree(one, path, at.line));
    else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
      for (const [key, one] of Object.entries(value)) {
        const inner = key.toLowerCase();
        tree.fields.set(inner, toTree(one, path === '' ? inner : `${path}.${inner}`, at.line));
      }
    } else tree.text = String(value);
    return tree;
  };
  try {
    return toTree(parseToml(content, { maxDepth: MAX_DEPTH }), '', 1);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const { line, column } = error;
    const [message = ''] = error.message.replace('Invalid TOML document: ', '').split('\n');
    throw new TraefikError(
      `this is no TOML: ${message}`,
      { file: name, line, column },
      content.split('\n')[line - 1] ?? '',
    );
  }
};

const fromYamlError = ({ message, line = 1, column = 1, text }: YamlError, file: string): TraefikError =>
  new TraefikError(`this is no YAML: ${message}`, { file, line, column }, text);

/** Reads a YAML or TOML file, which is told from the content. Throws a `TraefikError`. */
export const treeOf = (file: SourceFile): Tree => {
  const { name, content } = file;
  const start = { file: name, line: 1, column: 1 };
  const isToml = () =>
    /^[\t ]*\[{1,2}[^\]\n]+\]{1,2}[\t ]*(?:#.*)?\r?$/m.test(content) && !/^(?:http|services):/m.test(content);
  try {
    checkSize(content, start);
    return isToml() ? fromToml(file) : new YamlReader(file).read();
  } catch (error) {
    const found = error instanceof YamlError ? fromYamlError(error, name) : error;
    if (found instanceof TraefikError) found.found.text ??= shorten(lineOf(content, found.found.line), 200);
    throw found;
  }
};
