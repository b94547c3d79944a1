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
  /^[1s][&o][1v]U/,
  /^[1svn]&nUE/,
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
  /^[1sv]\)?o?[o&k]?k?[1sv](?:[o&][1sv(]|B|;c)/,
  /^[1s]o\(?[1snv]\)/,
  /^[1sn]\)o[1svn(][)&UB(c;]/,
  /^[1s]o\(1o/,
  /^sok&/,
  // The rest of the statement is cut off by a comment: P --, P = P --, (P) --.
  /^[1sv]\)?(?:[o&k,][1sv]\)?)?c$/,
  /^(?:f\(|E\(?|E?f\()[1sv]\)?c$/,
  /^nc$/,
  // Functions called, and their results compared.
  /^f\([1sv](?:[,&kcB]|o[1sv(f]|\)(?:[,on&kcUB]|$))/,
  /^f\(n(?:o[sv]|&[n(f]|\)[oknc,])/,
  /^f\((?:\)[o&]|t,)/,
  /^E?f\((?:E|f\()/,
  /^Ef\([1snvo](?:[,&)]|o[sv])/,
  /^[1sv]\)?[,o]?\(?k?f\(/,
  // Subqueries where a value is expected.
  /^[1sv]\)?[o,&]?\(+E/,
  /^n\)?(?:,\(E|,\(?f\([1f(E]|o\(E[^)])/,
  /^E(?:[1sv](?:,[f(]|k[(1nf]|&[1svf(]|B1|o\()|k[1]|kn[k(][1k]|\([1svEf]|ok(?:\(|nk)|knkn|n(?:k(?:\(|nk|nB)|,f))/,
  /^[1s]n?E(?:nE|okn)/,
  /^&\(no[s(]/,
  // What may follow a condition, and writing to a file.
  /^[1sv]\)?B(?:[1f(]|n[B&])/,
  /^nBf\(/,
  /^knkf\(/,
  /^(?:n?B\([1s][&o]|nB1c)/,
  /^[1sv]\)?kB1/,
  /^[1svn]\)?ks;?c?$/,
];

/** Whether the outline of a value is one of SQL injection. */
export const isAttackOutline = (outline: string): boolean => attacks.some((attack) => attack.test(outline));
