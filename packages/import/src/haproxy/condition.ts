import type { Line, Section } from './parse.ts';

/** Conditions that hold together: names that are asked for (undefined for all), and whether something else is asked, too. */
export interface Term {
  names: string[] | undefined;
  others: string[];
}

const HOST =
  /^(?:req\.|req_)?(?:f?hdr|ssl_fc_sni|req\.ssl_sni)(?:\(host(?:,-?1)?\))?(?:,(?:lower|field\(1,:\)|host_only|word\(1,:\)))*$/i;

const testOf = (words: readonly string[]): Term => {
  const [fetch = '', ...rest] = words;
  const isHost = HOST.test(fetch) && !/^(?:req\.)?f?hdr$/i.test(fetch);
  const values: string[] = [];
  let isExact = true;
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index]!;
    if (word === '-m') {
      isExact &&= rest[++index] === 'str';
    } else if (word === '-f' || word === '-M') isExact = false;
    else if (!(word.startsWith('-') && values.length === 0)) values.push(word.toLowerCase().replace(/:\d+$/, ''));
  }
  if (isHost && isExact && values.length > 0) return { names: values, others: [] };
  return { names: undefined, others: [words.join(' ')] };
};

/** ACLs by name; lines of one name are alternatives. */
export const aclsOf = ({ lines }: Section): Map<string, Term> => {
  const acls = new Map<string, Term>();
  for (const { words } of lines) {
    if (words[0] !== 'acl' || words[1] === undefined) continue;
    const term = testOf(words.slice(2));
    const before = acls.get(words[1]);
    if (before?.names && term.names) before.names.push(...term.names);
    else if (before) acls.set(words[1], { names: undefined, others: [words[1]] });
    else acls.set(words[1], term);
  }
  return acls;
};

const and = (a: Term, b: Term): Term => {
  const others = [...a.others, ...b.others];
  if (!a.names || !b.names) return { names: a.names ?? b.names, others };
  const wanted = new Set(b.names);
  return { names: a.names.filter((name) => wanted.has(name)), others };
};

/** What has to hold for a line that ends with `if …` or `unless …`: one of the terms. */
export const termsOf = ({ words }: Line, acls: ReadonlyMap<string, Term>): Term[] => {
  const start = words.findIndex((word) => word === 'if' || word === 'unless');
  if (start === -1) return [{ names: undefined, others: [] }];
  if (words[start] === 'unless') return [{ names: undefined, others: [words.slice(start).join(' ')] }];
  const terms: Term[] = [{ names: undefined, others: [] }];
  for (let index = start + 1; index < words.length; index++) {
    const word = words[index]!;
    if (word === 'or' || word === '||') {
      terms.push({ names: undefined, others: [] });
      continue;
    }
    let term: Term;
    const isNot = word.startsWith('!');
    const name = isNot ? word.slice(1) || (words[++index] ?? '') : word;
    if (name === '{') {
      const end = words.indexOf('}', index);
      term = testOf(words.slice(index + 1, end === -1 ? undefined : end));
      index = end === -1 ? words.length : end;
    } else term = acls.get(name) ?? { names: undefined, others: [name] };
    if (isNot) term = { names: undefined, others: [`not ${[...(term.names ?? []), ...term.others].join(' ')}`] };
    terms.push(and(terms.pop()!, term));
  }
  return terms;
};
