import { isSqlFromStart } from './outline-grammar.ts';

/**
 * Outlines (fingerprints of folded values, see KIND) that only SQL injection has. They are written as rules of SQL's grammar: what may stand where
 * an operand has ended, by whom it is followed. `P` in comments is an operand that prose does not have at its beginning: a number,
 * a quoted text or a variable.
 */
const attacks: readonly RegExp[] = [
  // What no two servers read alike.
  /X/,
  // A query joined to the one the value stands in: P union select, P) union (select, P and 1 union select.
  /^&?(?:[1svn]\)?(?:[&okBn]\(?[1sv]?\)?)?)?U[ok]?\(?E/,
  /^[1sv](?:\)|\()?U(?:c?$|[1(T]|E)/,
  // A further statement behind the end of this one.
  /^[1sv]\)?;\(?(?:E(?:[1vf(k]|nE|sc?$)|T(?:[1vf(k]|n(?:[^?:.{]|$)))/,
  /^n\)?;(?:Ef|T[f(v])/,
  /^(?:E[1sv]\)?|s&1|1&1);\(?[ET]/,
  /^[1s]\)?(?:T(?:[vE1]|n[TE;k(]|nsc)|E[1sv][T;])/,
  /^[1sn]\)?Es[c;]/,
  // P and a comparison, a call or a subquery.
  /^[1svn]\)?&\((?:[1svEof(]|n[o)]|$)/,
  /^[1svn]\)?&f\(/,
  /^[1sv]\)?&k?[1sv](?:o[1svnf(]|;(?:[ETc]|$)|[cBU)&,k])/,
  /^[1sv]\)?&k?[1sv]$/,
  /^[1sn](?:\)&1o|\)?&1(?:[UBc]|o[sv(f]|$))/,
  /^(?:[1svn]\)&k?[1sv]o|[1sv]\)&no|[1sv]&nov|n&s[o&][1s])/,
  /^s&(?:[no]$|no[s(]|nc)/,
  /^s&k?o[1sv(k]/,
  /^(?:s[o&]s|vos|[1sv]\)os)$/,
  /^(?:[1s]\)o[1svn(]|n\)o[1sv(])[)&UB(c;]|^n\)on[)&UBc;]/,
  // The rest of the statement is cut off by a comment: P --, P = P --, (P) --.
  /^[1sv]\)?(?:[o&k,][1sv]\)?)?c$/,
  /^nc$/,
  // Functions called, and their results compared.
  /^f\([1sv](?:[,&kcB]|o[1sv(f]|\)(?:[,on&kcUB]|$))/,
  /^f\(n(?:o[sv]|&[n(f1]|\)[oknc,])/,
  /^f\((?:\)[o&]|t,)/,
  /^E?f\((?:E|f\([^&])/,
  /^[1sv](?:\)?[,o]\(?k?)?f\((?!n:)/,
  // Subqueries where a value is expected.
  /^[1sv]\)?[o,&]?\(+E/,
  /^n\)?(?:,\(E|,\(?f\([1f(E]|o\(E[^)])/,
  /^E(?:[1sv](?:,[f(]|k[(1nf]|&[1svf(]|B1|o\()|k1(?:[^n]|n[k)]|$)|kn[k(][1k]|\([1svEf]|ok(?:\(|nk)|knkn|n(?:k(?:\(|nk|nB)|,f))/,
  /^(?:1n?|s)E(?:nE|okn)/,
  /^&\(no[s(]/,
  // What may follow a condition, and writing to a file.
  /^[1sv](?:\)?B(?:1(?:[^n1s]|$)|[f(]|n[B&])|\)B1)/,
  /^nBf\(/,
  /^(?:n?B\([1s][&o]|nB1c)/,
  /^[1sv]\)?kB1/,
  /^[1svn]\)?ks;?c?$/,
  // Short ones: an operand behind what ends the value's, and nothing but an end behind it.
  /^[1sv]\)?B(?:[1nsv];?c?|no)$/,
  /^[1sv]\)?[o&,][1nsv];c?$/,
  /^[1sv]\)?&nc$/,
  /^[1sv]\)?k[1nsv](?:;c?|c)$/,
  /^[1sv]\)?ov$/,
  /^[1sv]\)(?:o[1v]|&n)$/,
  /^[1sv]\)?;T;?$/,
  /^[1sv]\)?Bn;/,
  /^n(?:&[1s];|&vc|B1;?|B[ns][;c]?)$/,
  /^E[1svn]\)[;c]?$/,
  // A name, as a column to sort by is, and what can't be text behind it.
  /^no[sv]&[(1svnfEk]/,
  /^n(?:\)?of\([1nEsf)v]|\)of\($|,f\([nskv)]|o\((?:f\(|so|1o|[sv]\)|no)|,\((?:no|so|[sv]\)|f\()|f\(E|;Ev|&[1nsv]f(?:\(|$)|&v;|o\((?:vo|1&|s&|v,)|okf\(|f\((?:v\)|vo)|&sc|&v$|o\(n&|f\(f\(|kn&[(f1s]|k[s1]&)/,
  /^n\)?;T(?:;|[nTtk;1s(o][^?:.{])/,
  /^k?f\((?:n(?:of|o\(|\);|,[(f]|\)$)|1\)[;EA]|[sv]\);|so[nf]|\)c$)/,
  /^;T(?:k|\(E)/,
  /^so(?:s1s|n[ET]n)/,
  // Statements with nothing between them, as SQL Server takes them.
  /^n\)?;EnE/,
  /^[1sv]\)?;(?:EsT|n:T)/,
  /^[1s](?:nE1c|EU|&[1s]T|k\)f\(|\)?Tnn:|AtU)/,
  /^1nEf\(/,
  /^(?:Ev[ns]c?$|E1\);\(|&f\([1)]|T(?:nvo|vf\(|\(v)|f\(\)U)/,
  /^[1sv]\)?T(?:nnc|f\(|\([1s]\))/,
  /^[1s]\)E(?:[kv(1]|f\()/,
  /^[1s]\)?E(?:k(?:\(|f\(|[1sv]o)|f\([1n)]|\([1sfnv]|[1v][co])/,
  /^[1s]\)f\((?:[fE]|n\))/,
  /^[1s]\)?&Es$/,
  // Operators that are functions to some.
  /^[1s]\)?(?:vof\(|&[1svn]f(?:\(|$)|&svo|onf\()/,
  /^[1sn]ok&[(1snvfE]/,
  /^E(?:1nkn|knf\(|k\((?:1|s[^)]|E|f|\())/,
  /^nkf\([1s]/,
];

/**
 * What five tokens that follow SQL's grammar may be nevertheless: prose with words of SQL in it, and code. Attacks like these have shorter or
 * longer outlines in another kind of quote.
 */
const doubtful: readonly RegExp[] = [
  // An operand and a word: "for", "as", "is", "like".
  /^[1sv](?:k(?:k|n[^&;,c]|o|1k[^f(])|ok[kn])/,
  /^n(?:[^&;B]|.*n\(|&(?:n(?:k[^f(1]|ok)|Eo)|B[^1]k[^(])/,
  /^En(?:k(?:k|n[^),Uc;])|o[^f(E]|[^ko),;U])/,
  /^E(?:kn[^)k(]|o|E[^k])/,
];

/** Five tokens that follow SQL's grammar begin with what prose and code have no such rest behind. */
const telling = /^[1svnE]/;
/** The same where the text is the value's own: "name" is not null or … */
const tellingInQuotes = /^s(?:(?:o.)?&|;[ET]|BEk|B[ns]o|k(?:f|\([sf])|o[nk]?\([1snfv]|k[1nv]&|\)o\()/;

/** Whether the outline of a value is one of SQL injection; `opensQuote` when its first token is a text with a quote before it. */
export const isAttackOutline = (outline: string, opensQuote: boolean): boolean =>
  attacks.some((attack) => attack.test(outline)) ||
  (outline.length === 5 &&
    (opensQuote ? tellingInQuotes : telling).test(outline) &&
    isSqlFromStart(outline) &&
    !doubtful.some((text) => text.test(outline)));
