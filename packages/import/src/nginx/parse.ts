import type { SourceFile } from '../reading.ts';
import { NginxError } from './error.ts';
import { Lexer, type Token } from './lex.ts';

/** A directive with its arguments, and with its block when it has one. */
export interface Directive {
  name: Token;
  args: Token[];
  block: Directive[] | undefined;
}

/** Blocks within blocks; nobody writes ten. */
const MAX_DEPTH = 100;
/** Of one upload, counted when they are read and when they are put in their place: ten thousand servers with fifty each. */
const MAX_DIRECTIVES = 1_000_000;

const MAX_WORDS = 20_000;

/** What may still be read. */
export interface Budget {
  directives: number;
}

/** A budget for one upload. */
export const newBudget = (): Budget => ({ directives: MAX_DIRECTIVES });

/** Takes a directive, or what costs as much, off the budget. Throws a `NginxError` when there is none left. */
export const spend = (budget: Budget, { name }: Directive, cost = 1): void => {
  budget.directives -= cost;
  if (budget.directives < 0) throw new NginxError('there are too many directives and includes', name, name.text);
};

/** Reads one file. Throws a `NginxError` for what nginx could not read either. */
export const parseNginx = (file: SourceFile, budget: Budget): Directive[] => {
  const lexer = new Lexer(file);
  const top: Directive[] = [];
  const open: { directives: Directive[]; brace: Token }[] = [];
  let current = top;
  let words: Token[] = [];
  const finish = (block: Directive[] | undefined): void => {
    const [name, ...args] = words as [Token, ...Token[]];
    const directive = { name, args, block };
    spend(budget, directive, 2);
    current.push(directive);
    words = [];
  };
  for (let token = lexer.next(); token; token = lexer.next()) {
    if (token.kind === 'word') {
      words.push(token);
      if (words.length > MAX_WORDS) throw new NginxError(`a directive may have ${MAX_WORDS} words`, token, token.text);
      continue;
    }
    if ((token.kind === '}') !== (words.length === 0)) {
      const why = token.kind === '}' ? `${words[0]!.text} is not ended by a semicolon` : `unexpected ${token.kind}`;
      throw new NginxError(why, token.kind === '}' ? words[0]! : token, words[0]?.text ?? token.text);
    }
    if (token.kind === ';') finish(undefined);
    else if (token.kind === '{') {
      const block: Directive[] = [];
      const isCode = words[0]!.text.endsWith('_by_lua_block');
      finish(block);
      if (isCode) {
        lexer.skipBlock(token);
        continue;
      }
      if (open.length === MAX_DEPTH)
        throw new NginxError(`there are more than ${MAX_DEPTH} blocks in each other`, token, '{');
      open.push({ directives: current, brace: token });
      current = block;
    } else {
      const outer = open.pop();
      if (!outer) throw new NginxError('this } closes nothing', token, '}');
      current = outer.directives;
    }
  }
  const unclosed = open.at(-1);
  if (words[0]) throw new NginxError(`${words[0].text} is not ended by a semicolon`, words[0], words[0].text);
  if (unclosed) throw new NginxError('this { is never closed', unclosed.brace, '{');
  return top;
};
