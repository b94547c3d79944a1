import { addAll } from '../add-all.ts';
import { once } from './once.ts';
import type { Line, Section } from './parse.ts';

/** Conditions that hold together. */
export interface Term {
  /** Names that are asked for; undefined for all. */
  names: string[] | undefined;
  /** Names that it is not for. */
  except: string[];
  /** What else is asked, as it is written. */
  others: string[];
  /** Whether all of that is about what is asked for, a path or a method, and nothing about who asks. */
  isOfRequest: boolean;
}

/** An ACL by its name. */
export type Acls = (name: string) => Term | undefined;

const HOST =
  /^(?:req\.|req_)?(?:f?hdr|ssl_fc_sni|req\.ssl_sni)(?:\(host(?:,-?1)?\))?(?:,(?:lower|field\(1,:\)|host_only|word\(1,:\)))*$/i;

const OF_REQUEST =
  /^(?:base\w*|capture\.req\.(?:method|uri|ver)|method|path\w*|pathq|query|req(?:\.f?hdr|\.hdr_\w+)?\(host[^)]*\)|f?hdr\w*\(host[^)]*\)|req\.hdr\w*\(host[^)]*\)|req[._]ver|ssl_fc|ssl_fc_sni\w*|dst_port|url\w*|METH_[A-Z]+|HTTP(?:_1\.[01])?)(?:,.*)?$/;

const EVERYTHING: Term = { names: undefined, except: [], others: [], isOfRequest: true };

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
  if (isHost && isExact && values.length > 0) return { ...EVERYTHING, names: values };
  return { ...EVERYTHING, others: [words.join(' ')], isOfRequest: OF_REQUEST.test(fetch) };
};

const aclsIn = once(({ lines }): ReadonlyMap<string, Term> => {
  const acls = new Map<string, Term>();
  for (const { words } of lines) {
    if (words[0] !== 'acl' || words[1] === undefined) continue;
    const term = testOf(words.slice(2));
    const before = acls.get(words[1]);
    // Lines of one name are alternatives.
    if (before?.names && term.names) addAll(before.names, term.names);
    else if (before) {
      const isOfRequest = before.isOfRequest && term.isOfRequest;
      acls.set(words[1], { ...EVERYTHING, others: [words[1]], isOfRequest });
    } else acls.set(words[1], term);
  }
  return acls;
});

/** The ACLs of sections, the first of which is asked first. */
export const aclsOf =
  (sections: readonly Section[]): Acls =>
  (name) => {
    for (const section of sections) {
      const found = aclsIn(section).get(name);
      if (found) return found;
    }
    return undefined;
  };

const and = (a: Term, b: Term): Term => {
  const shared = {
    except: [...a.except, ...b.except],
    others: [...a.others, ...b.others],
    isOfRequest: a.isOfRequest && b.isOfRequest,
  };
  if (!a.names || !b.names) return { ...shared, names: a.names ?? b.names };
  const wanted = new Set(b.names);
  return { ...shared, names: a.names.filter((name) => wanted.has(name)) };
};

const not = ({ names, except, others, isOfRequest }: Term): Term =>
  names && others.length === 0 && except.length === 0
    ? { ...EVERYTHING, except: names }
    : { ...EVERYTHING, others: [`not ${[...(names ?? []), ...others].join(' ')}`], isOfRequest };

/** What has to hold for a line that ends with `if …` or `unless …`: one of the terms. */
export const termsOf = ({ words }: Line, acls: Acls): Term[] => {
  const start = words.findIndex((word) => word === 'if' || word === 'unless');
  if (start === -1) return [EVERYTHING];
  const terms: Term[] = [EVERYTHING];
  for (let index = start + 1; index < words.length; index++) {
    const word = words[index]!;
    if (word === 'or' || word === '||') {
      terms.push(EVERYTHING);
      continue;
    }
    let term: Term;
    const isNot = word.startsWith('!');
    const name = isNot ? word.slice(1) || (words[++index] ?? '') : word;
    if (name === '{') {
      const end = words.indexOf('}', index);
      term = testOf(words.slice(index + 1, end === -1 ? undefined : end));
      index = end === -1 ? words.length : end;
    } else term = acls(name) ?? { ...EVERYTHING, others: [name], isOfRequest: OF_REQUEST.test(name) };
    terms.push(and(terms.pop()!, isNot ? not(term) : term));
  }
  if (words[start] === 'if') return terms;
  const [only, another] = terms;
  if (only && !another) return [not(only)];
  const isOfRequest = terms.every((term) => term.isOfRequest);
  return [{ ...EVERYTHING, others: [words.slice(start).join(' ')], isOfRequest }];
};
