/** What a router's rule asks for. */
export interface Rule {
  /** Of `Host(…)`; undefined when it is for all hosts. */
  names: string[] | undefined;
  /** What else it asks for, as it is written: `PathPrefix(…)`, `Headers(…)` … */
  others: string[];
}

const TOKEN = /\s*(?:(&&|\|\||!|\(|\)|,)|`([^`]*)`|"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z]+))/y;
const MAX_RULE = 16_384;
const MAX_DEPTH = 50;

interface Token {
  kind: 'sign' | 'text' | 'word';
  text: string;
}

const tokensOf = (rule: string): Token[] => {
  if (rule.length > MAX_RULE) throw new Error(`the rule is longer than ${MAX_RULE} characters`);
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  const end = rule.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const from = TOKEN.lastIndex;
    const found = TOKEN.exec(rule);
    if (!found) throw new Error(`the rule can not be read from "${rule.slice(from, from + 40)}" on`);
    const [, sign, back, double, single, word] = found;
    const text = back ?? double ?? single;
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
    else if (text !== undefined) tokens.push({ kind: 'text', text });
    else tokens.push({ kind: 'word', text: word! });
  }
  return tokens;
};

const both = (a: Rule, b: Rule): Rule => {
  const others = [...a.others, ...b.others];
  if (!a.names || !b.names) return { names: a.names ?? b.names, others };
  const wanted = new Set(b.names);
  return { names: a.names.filter((name) => wanted.has(name)), others };
};

const either = (a: Rule, b: Rule): Rule => {
  const others = [...a.others, ...b.others];
  if (a.names && b.names) return { names: [...a.names, ...b.names], others };
  return { names: a.names ?? b.names, others: others.length > 0 ? others : ['all hosts'] };
};

class Parser {
  readonly #tokens: Token[];
  #at = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  #takes(sign: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'sign' || token.text !== sign) return false;
    this.#at++;
    return true;
  }

  whole(): Rule {
    const rule = this.#either(0);
    const left = this.#tokens[this.#at];
    if (left) throw new Error(`the rule goes on with "${left.text}" where it should end`);
    return rule;
  }

  #either(depth: number): Rule {
    let rule = this.#both(depth);
    while (this.#takes('||')) rule = either(rule, this.#both(depth));
    return rule;
  }

  #both(depth: number): Rule {
    let rule = this.#one(depth);
    while (this.#takes('&&')) rule = both(rule, this.#one(depth));
    return rule;
  }

  #one(depth: number): Rule {
    if (depth > MAX_DEPTH) throw new Error('the rule has too many levels');
    if (this.#takes('!')) {
      const { names, others } = this.#one(depth + 1);
      return { names: undefined, others: [`not ${[...(names ?? []), ...others].join(', ')}`] };
    }
    if (this.#takes('(')) {
      const rule = this.#either(depth + 1);
      if (!this.#takes(')')) throw new Error('a parenthesis of the rule is never closed');
      return rule;
    }
    return this.#matcher();
  }

  #matcher(): Rule {
    const name = this.#tokens[this.#at++];
    if (name?.kind !== 'word' || !this.#takes('('))
      throw new Error('the rule has no matcher such as Host(`name`) there');
    const values: string[] = [];
    while (!this.#takes(')')) {
      const value = this.#tokens[this.#at++];
      if (value?.kind !== 'text') throw new Error(`${name.text} of the rule has a value without quotes`);
      values.push(value.text);
      this.#takes(',');
    }
    if (/^Host(?:Header)?$/i.test(name.text)) {
      if (values.length === 0) throw new Error('Host of the rule has no name');
      return { names: values.map((value) => value.toLowerCase()), others: [] };
    }
    return { names: undefined, others: [`${name.text}(${values.join(', ')})`] };
  }
}

/** Reads a rule. Throws an `Error` that says what is wrong. */
export const parseRule = (rule: string): Rule => new Parser(tokensOf(rule)).whole();
