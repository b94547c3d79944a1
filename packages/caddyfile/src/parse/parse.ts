import { CaddyfileError, show } from '../text/error.ts';
import { isClosing, isOpening, startsLine, type Token } from '../text/token.ts';
import { Expansion, type Limits } from './expansion.ts';
import { type CaddyfileSource, FileSet } from './file-set.ts';
import type { Directive, Notice, ServerBlock } from './tree.ts';

export interface ParseOptions {
  /** The file to begin with. Default: the first. */
  main?: string;
  /** What `{$NAME}` stands for. Default: nothing is known, and only defaults count. */
  lookUp?: (name: string) => string | undefined;
  limits?: Partial<Limits>;
}

/** What was read. `blocks` are those without an error in them. */
export interface Parsed {
  blocks: ServerBlock[];
  errors: CaddyfileError[];
  notices: Notice[];
}

const LIMITS: Limits = { words: 500_000, filledIn: 10_000_000, imports: 100, depth: 100, errors: 100 };

/** Thrown when there are so many errors that what follows is no Caddyfile. */
class Enough extends Error {}

class Parser {
  readonly blocks: ServerBlock[] = [];
  readonly #expansion: Expansion;
  readonly #limits: Limits;
  /** How many braces are open. */
  #depth = 0;
  #last: Token | undefined;

  constructor(expansion: Expansion, limits: Limits) {
    this.#expansion = expansion;
    this.#limits = limits;
  }

  #next(): Token | undefined {
    const token = this.#expansion.next();
    if (token === undefined) return undefined;
    if (isOpening(token)) this.#depth++;
    else if (isClosing(token)) this.#depth--;
    this.#last = token;
    return token;
  }

  /** Whether another word stands on the line of the last one. */
  #goesOn(): boolean {
    const next = this.#expansion.peek();
    return next !== undefined && !startsLine(this.#last, next);
  }

  /** Words up to the end of the line, or to a brace that opens a block. */
  #restOfLine(): Token[] {
    const words: Token[] = [];
    while (this.#goesOn() && !isOpening(this.#expansion.peek()!)) words.push(this.#next()!);
    return words;
  }

  /** All words up to the brace that closes the block that the next word opens; both braces are left out. */
  #rawBlock(): Token[] {
    const opening = this.#next()!;
    const outside = this.#depth - 1;
    const words: Token[] = [];
    for (;;) {
      const token = this.#next();
      if (token === undefined) throw new CaddyfileError('this block is never closed', opening, '{');
      if (this.#depth === outside) return words;
      words.push(token);
    }
  }

  #opensBlock(): boolean {
    const next = this.#expansion.peek();
    return next !== undefined && isOpening(next) && this.#goesOn();
  }

  /** `import`, which was the last word, up to the end of its line or block: itself as a directive when it imports nothing. */
  #import(name: Token, isTopLevel: boolean): Directive | undefined {
    const args = this.#restOfLine();
    const block = this.#opensBlock() ? this.#rawBlock() : [];
    return this.#expansion.import({ name, args, block, isTopLevel }) ? undefined : { name, args };
  }

  /** What stands before a block, or on a line of its own when there is no brace at all. */
  #keys(first: Token): Token[] {
    const keys: Token[] = [];
    let isAnotherExpected = false;
    for (let token: Token | undefined = first; ; token = this.#expansion.peek()) {
      if (token === undefined) {
        if (isAnotherExpected)
          throw new CaddyfileError('another address should follow the comma', this.#last!, this.#last!.text);
        return keys;
      }
      if (token !== first && !isAnotherExpected && startsLine(this.#last, token)) return keys;
      if (isOpening(token)) {
        if (isAnotherExpected) throw new CaddyfileError('another address should follow the comma', token, '{');
        return keys;
      }
      this.#next();
      checkKey(token);
      isAnotherExpected = token.text.endsWith(',') || (isAnotherExpected && token.text === '');
      const text = token.text.replace(/,$/, '');
      if (text.includes(',')) {
        throw new CaddyfileError(
          `${show(token.text)}: put a space after the comma between addresses`,
          token,
          token.text,
        );
      }
      if (text !== '') keys.push({ ...token, text });
    }
  }

  /** One block of the top level, or nothing but an import. */
  #block(): void {
    const first = this.#expansion.peek()!;
    if (first.text === 'import' && startsLine(this.#last, first)) {
      this.#next();
      this.#import(first, true);
      return;
    }
    if (isClosing(first)) {
      this.#next();
      this.#depth = 0;
      throw new CaddyfileError('this brace closes nothing', first, '}');
    }
    const keys = this.#keys(first);
    const [only] = keys;
    const opening = this.#expansion.peek();
    const hasBraces = opening !== undefined && isOpening(opening) && this.#depth === 0;
    const snippet = keys.length === 1 ? /^(&?)\((.*)\)$/s.exec(only!.text) : null;
    if (snippet && !hasBraces) throw new CaddyfileError('a snippet needs a block', only!, only!.text);
    if (snippet?.[1] === '') {
      this.#expansion.define(only!, snippet[2]!, this.#rawBlock());
      return;
    }
    const { file, line, column } = only ?? opening ?? first;
    const kind = snippet ? 'named-route' : keys.length === 0 ? 'options' : 'site';
    if (kind === 'options' && hasBraces && this.blocks.length > 0) {
      this.#next();
      throw new CaddyfileError('a block without an address holds global options and has to come first', first, '{');
    }
    if (!hasBraces && keys.length === 0) return;
    if (hasBraces) this.#next();
    const directives = this.#directives(hasBraces);
    this.blocks.push({ place: { file, line, column }, keys, directives, kind });
  }

  /** The lines of a block up to its closing brace, or to the end of everything when it has none. */
  #directives(hasBraces: boolean): Directive[] {
    const top: Directive[] = [];
    const open: { directives: Directive[]; brace: Token | undefined }[] = [
      { directives: top, brace: hasBraces ? this.#last : undefined },
    ];
    if (hasBraces) this.#endLine('{');
    for (;;) {
      const { directives, brace } = open.at(-1)!;
      const token = this.#next();
      if (token === undefined) {
        if (brace === undefined) return top;
        throw new CaddyfileError('this block is never closed', brace, '{');
      }
      if (isClosing(token)) {
        if (brace === undefined) throw new CaddyfileError('this brace closes nothing', token, '}');
        this.#endLine('}');
        open.pop();
        if (open.length === 0) return top;
      } else if (isOpening(token)) {
        throw new CaddyfileError('a { may not stand on a line of its own: put it on the line before', token, '{');
      } else if (token.text === 'import') {
        const ofNothing = this.#import(token, false);
        if (ofNothing) directives.push(ofNothing);
      } else {
        const directive: Directive = { name: token, args: this.#restOfLine() };
        directives.push(directive);
        const stray = directive.args.find((arg) => isClosing(arg));
        if (stray) throw new CaddyfileError('a } has to stand on a line of its own', stray, '}');
        if (!this.#opensBlock()) continue;
        if (open.length >= this.#limits.depth) {
          throw new CaddyfileError(`there are more than ${this.#limits.depth} blocks within blocks`, token, token.text);
        }
        directive.block = [];
        open.push({ directives: directive.block, brace: this.#next() });
        this.#endLine('{');
      }
    }
  }

  #endLine(brace: string): void {
    if (!this.#goesOn()) return;
    const next = this.#expansion.peek()!;
    throw new CaddyfileError(`nothing may follow ${brace} on its line`, next, next.text);
  }

  /** Goes on behind the block in which an error was found, as far as braces tell. */
  #recover(): void {
    const line = this.#last;
    while (this.#depth > 0) if (this.#next() === undefined) return;
    this.#depth = 0;
    if (line === this.#last) while (this.#goesOn() && !isOpening(this.#expansion.peek()!)) this.#next();
  }

  parse(onError: (error: CaddyfileError) => void): void {
    while (this.#expansion.peek() !== undefined) {
      try {
        this.#block();
      } catch (error) {
        if (!(error instanceof CaddyfileError)) throw error;
        onError(error);
        this.#recover();
      }
    }
  }
}

const checkKey = (token: Token): void => {
  if (token.text.startsWith('@')) {
    throw new CaddyfileError(`the matcher ${show(token.text)} has to be in a site's block`, token, token.text);
  }
  if (token.text.endsWith('{') && token.quote === '') {
    throw new CaddyfileError(`${show(token.text)}: put a space before the brace`, token, token.text);
  }
};

/** Reads Caddyfiles into blocks, imports and snippets put in their place. Never throws because of what they say. */
export const parseCaddyfile = (
  sources: readonly CaddyfileSource[],
  { main, lookUp = () => undefined, limits: given }: ParseOptions = {},
): Parsed => {
  const limits = { ...LIMITS, ...given };
  const errors: CaddyfileError[] = [];
  const onError = (error: CaddyfileError) => {
    errors.push(error);
    if (errors.length >= limits.errors) throw new Enough();
  };
  const files = new FileSet(sources);
  const expansion = new Expansion(files, lookUp, limits, onError);
  const parser = new Parser(expansion, limits);
  const first = main === undefined ? sources[0] : files.get(main);
  const nowhere = { file: main ?? '', line: 1, column: 1 };
  try {
    for (const name of files.doubles) {
      onError(new CaddyfileError(`there are two files ${show(name)}`, { ...nowhere, file: name }, name));
    }
    if (first === undefined) {
      onError(new CaddyfileError(main === undefined ? 'there is no file' : 'there is no such file', nowhere, main));
    } else {
      expansion.open(first);
      parser.parse(onError);
    }
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
    const last = errors.at(-1)!;
    errors.push(new CaddyfileError('there are too many errors: what follows was not read', last, last.text));
  }
  return { blocks: parser.blocks, errors, notices: expansion.notices };
};
