import { CaddyfileError, type Place, show } from '../text/error.ts';
import { type Lexed, lex } from '../text/lex.ts';
import { isClosing, isOpening, startsLine, type Token } from '../text/token.ts';
import { substituteVariables } from '../text/variables.ts';
import type { CaddyfileSource, FileSet } from './file-set.ts';
import { fillIn } from './import-args.ts';
import type { Notice } from './tree.ts';

/** How much there may be of what. Imports multiply, so it is what they make that is counted. */
export interface Limits {
  /** Words of all files, and of all that imports put in their place. */
  words: number;
  /** Characters that arguments of imports become. */
  filledIn: number;
  /** Imports within imports. */
  imports: number;
  /** Blocks within blocks. */
  depth: number;
  errors: number;
}

/** What an import was of, and where it stands: by these, circles are seen. */
interface Chain {
  what: string;
  within: Chain | undefined;
  depth: number;
}

interface Frame {
  tokens: readonly Token[];
  next: number;
}

/** What an `import` line says. */
export interface ImportLine {
  name: Token;
  args: readonly Token[];
  /** The words between the braces after it. */
  block: readonly Token[];
  isTopLevel: boolean;
}

/** Words one after another, with what imports put in their place. */
export class Expansion {
  readonly notices: Notice[] = [];
  readonly #snippets = new Map<string, readonly Token[]>();
  readonly #lexed = new Map<CaddyfileSource, Lexed>();
  readonly #chains: (Chain | undefined)[] = [undefined];
  readonly #frames: Frame[] = [];
  readonly #files: FileSet;
  readonly #lookUp: (name: string) => string | undefined;
  readonly #limits: Limits;
  readonly #onError: (error: CaddyfileError) => void;
  #words = 0;
  #filledIn = 0;

  constructor(
    files: FileSet,
    lookUp: (name: string) => string | undefined,
    limits: Limits,
    onError: (error: CaddyfileError) => void,
  ) {
    this.#files = files;
    this.#lookUp = lookUp;
    this.#limits = limits;
    this.#onError = onError;
  }

  /** The next word, which `next` then takes. */
  peek(): Token | undefined {
    for (;;) {
      const frame = this.#frames.at(-1);
      if (frame === undefined) return undefined;
      const token = frame.tokens[frame.next];
      if (token !== undefined) return token;
      this.#frames.pop();
    }
  }

  next(): Token | undefined {
    const token = this.peek();
    if (token !== undefined) this.#frames.at(-1)!.next++;
    return token;
  }

  /** Begins with this file. */
  open(source: CaddyfileSource): void {
    this.#chains[0] = { what: `file ${source.name}`, within: undefined, depth: 0 };
    this.#frames.push({ tokens: this.#tokensOf(source), next: 0 });
  }

  /** Throws when there is one of this name. */
  define(name: Token, snippet: string, tokens: readonly Token[]): void {
    if (this.#snippets.has(snippet))
      throw new CaddyfileError(`there is a snippet ${show(snippet)} already`, name, name.text);
    this.#snippets.set(snippet, tokens);
  }

  #tokensOf(source: CaddyfileSource): readonly Token[] {
    const known = this.#lexed.get(source);
    if (known) return known.tokens;
    const substituted = substituteVariables(source.content, this.#lookUp);
    const lexed = lex(source.name, substituted, this.#limits.words - this.#words);
    this.#lexed.set(source, lexed);
    this.#words += lexed.tokens.length;
    if (lexed.error) this.#onError(lexed.error);
    for (const { name, at } of substituted.unknown.slice(0, this.#limits.errors)) {
      const line = substituted.text.slice(0, at).split('\n').length;
      const column = at - substituted.text.lastIndexOf('\n', at);
      const message = `the environment variable ${show(name)} is not known here and has no default`;
      this.notices.push({ file: source.name, line, column, message });
    }
    return lexed.tokens;
  }

  /**
   * Puts what `line` imports in its place, and tells whether there is anything: a pattern may fit no file. Throws when there is no such
   * thing, or it would never end.
   */
  import(line: ImportLine): boolean {
    const { name } = line;
    const target = line.args[0];
    if (target === undefined) throw new CaddyfileError('import needs the name of a snippet or a file', name, 'import');
    if (target.text === '') throw new CaddyfileError('import needs the name of a snippet or a file', target, '""');
    const snippet = this.#snippets.get(target.text);
    if (snippet) {
      this.#push(line, `snippet ${target.text}`, snippet);
      return true;
    }
    const found = this.#files.find(target.file, target.text);
    if ('refused' in found)
      throw new CaddyfileError(`import ${show(target.text)}: ${found.refused}`, target, target.text);
    if (found.files.length === 0) this.#notice(target, `no file matches ${show(target.text)}`);
    // The last one first: each frame is read before those below it.
    for (const file of found.files.toReversed()) this.#push(line, `file ${file.name}`, this.#tokensOf(file));
    return found.files.length > 0;
  }

  #notice({ file, line, column }: Place, message: string): void {
    if (this.notices.length < this.#limits.errors) this.notices.push({ file, line, column, message });
  }

  #push(line: ImportLine, what: string, tokens: readonly Token[]): void {
    const target = line.args[0]!;
    const within = this.#chains[line.name.chain];
    for (let one = within; one; one = one.within) {
      if (one.what === what)
        throw new CaddyfileError(`import ${show(target.text)} goes round in a circle`, target, target.text);
    }
    const depth = (within?.depth ?? 0) + 1;
    if (depth > this.#limits.imports) {
      throw new CaddyfileError(
        `there are more than ${this.#limits.imports} imports within imports`,
        target,
        target.text,
      );
    }
    const chain = this.#chains.push({ what, within, depth }) - 1;
    this.#frames.push({ tokens: this.#fill(line, tokens, chain), next: 0 });
  }

  /** The words of a block, never on one line with those of another, nor with their own when it is there twice. */
  #onLinesOfTheirOwn(block: readonly Token[]): Token[] {
    const moved = new Map<number, number>();
    return block.map((token) => {
      const chain = moved.get(token.chain) ?? this.#chains.push(this.#chains[token.chain]) - 1;
      moved.set(token.chain, chain);
      return { ...token, chain };
    });
  }

  #fill({ args, block, isTopLevel }: ImportLine, tokens: readonly Token[], chain: number): Token[] {
    const target = args[0]!;
    const given = args.slice(1);
    const filled: Token[] = [];
    const spend = (words: number) => {
      this.#words += words;
      if (this.#words > this.#limits.words) {
        throw new CaddyfileError(`imports make more than ${this.#limits.words} words of this`, target, target.text);
      }
    };
    // One for the import itself: there may be many of nothing.
    spend(tokens.length + 1);
    const blockNamed = blocksOf(block);
    const isInSnippet = isTopLevel ? snippetSpotter() : () => false;
    for (const token of tokens) {
      if (isInSnippet(token)) filled.push({ ...token, chain });
      else if (isForBlock(token)) {
        const put = blockNamed(token.text);
        spend(put.length);
        for (const one of this.#onLinesOfTheirOwn(put)) filled.push(one);
      } else {
        const words = fillIn(token, given, chain);
        spend(words.length);
        for (const word of words) {
          if (word.text !== token.text) this.#filledIn += word.text.length;
          filled.push(word);
        }
        if (this.#filledIn > this.#limits.filledIn) {
          throw new CaddyfileError('the arguments of imports make too much text of this', target, target.text);
        }
      }
    }
    return filled;
  }
}

const isForBlock = ({ text }: Token): boolean => text === '{block}' || /^\{blocks\..*\}$/s.test(text);

/** Tells what `{block}` or `{blocks.name}` stands for, which is nothing when the import has no such block. */
const blocksOf = (block: readonly Token[]): ((placeholder: string) => readonly Token[]) => {
  let named: Map<string, readonly Token[]> | undefined;
  return (placeholder) => {
    if (placeholder === '{block}') return block;
    named ??= namedBlocks(block);
    return named.get(placeholder.slice('{blocks.'.length, -1)) ?? [];
  };
};

/** Each line of a block by its first word: the words that follow it, or the block that it opens. */
const namedBlocks = (block: readonly Token[]): Map<string, readonly Token[]> => {
  const starts: number[] = [];
  let depth = 0;
  for (const [index, token] of block.entries()) {
    if (depth === 0 && !isClosing(token) && startsLine(block[index - 1], token)) starts.push(index);
    if (isOpening(token)) depth++;
    else if (isClosing(token)) depth--;
  }
  return new Map(
    starts.map((start, number) => [block[start]!.text, withoutBraces(block.slice(start + 1, starts[number + 1]))]),
  );
};

const withoutBraces = (tokens: readonly Token[]): readonly Token[] => {
  const opening = tokens.findIndex(isOpening);
  return opening === -1 ? tokens : tokens.filter((_, index) => index !== opening && index !== tokens.length - 1);
};

/**
 * Tells of one word after another whether it belongs to a snippet's definition: what stands in it is filled in when the
 * snippet is imported, not when the file is.
 */
const snippetSpotter = (): ((token: Token) => boolean) => {
  let [depth, isInside] = [0, false];
  let [last, beforeLast]: (Token | undefined)[] = [];
  return (token) => {
    if (isOpening(token)) {
      depth++;
      const isName = last !== undefined && /^\(.+\)$/s.test(last.text) && startsLine(beforeLast, last);
      if (depth === 1 && isName) isInside = true;
    } else if (isClosing(token)) depth--;
    const was = isInside;
    if (depth === 0 && isClosing(token)) isInside = false;
    [beforeLast, last] = [last, token];
    return was;
  };
};
