import { compileDetectSqli, compileDetectXss } from './detect-injection.ts';
import { compileGeoLookup } from './geo-lookup.ts';
import { compileIpMatch, compileIpMatchFromFile } from './ip-match.ts';
import { NUMERIC_OPERATORS, parseInteger } from './numeric-operators.ts';
import { type OperatorContext, type OperatorEnv, OperatorError, type OperatorInstance, ruleBytes } from './operator.ts';
import { compilePm, compilePmFromFile } from './phrase-match.ts';
import { compileRbl } from './rbl.ts';
import { beginsWith, contains, containsWord, endsWith, streq, type TextOperator, within } from './text-operators.ts';
import { compileValidateByteRange } from './validate-byte-range.ts';
import { validateUrlEncoding, validateUtf8Encoding } from './validate-encoding.ts';
import {
  compileValidateNid,
  compileVerifyCc,
  compileVerifyCpf,
  compileVerifySsn,
  compileVerifySvnr,
} from './verify-number.ts';

const TEXT_OPERATORS: Readonly<Record<string, TextOperator>> = {
  beginsWith,
  contains,
  containsWord,
  endsWith,
  streq,
  strmatch: contains,
  within,
};

const COMPILERS: Readonly<Record<string, (argument: string, env: OperatorEnv) => OperatorInstance>> = {
  detectSQLi: compileDetectSqli,
  detectXSS: compileDetectXss,
  geoLookup: (_, env) => compileGeoLookup(env),
  ipMatch: compileIpMatch,
  ipMatchF: compileIpMatchFromFile,
  ipMatchFromFile: compileIpMatchFromFile,
  noMatch: () => ({ match: () => false }),
  pm: compilePm,
  pmf: compilePmFromFile,
  pmFromFile: compilePmFromFile,
  rbl: compileRbl,
  unconditionalMatch: () => ({ match: () => true }),
  validateByteRange: compileValidateByteRange,
  validateNid: compileValidateNid,
  validateUrlEncoding: () => validateUrlEncoding,
  validateUtf8Encoding: () => validateUtf8Encoding,
  verifyCC: compileVerifyCc,
  verifyCPF: compileVerifyCpf,
  verifySSN: compileVerifySsn,
  verifySVNR: compileVerifySvnr,
};

const byLowerCase = <T>(named: Readonly<Record<string, T>>): ReadonlyMap<string, T> =>
  new Map(Object.entries(named).map(([name, item]) => [name.toLowerCase(), item]));

const textOperators = byLowerCase(TEXT_OPERATORS);
const compilers = byLowerCase(COMPILERS);

/** Operators of ModSecurity that are known and refused, with the reason. */
const refused: ReadonlyMap<string, string> = new Map([
  ['fuzzyhash', 'it needs ssdeep, which is not built in'],
  ['gsblookup', 'Google closed the Safe Browsing API that it used'],
  ['inspectfile', 'it runs a program for each request'],
  ['rsub', 'it rewrites bodies, which inspection does not do'],
  ['validatedtd', 'documents with a DTD are refused by the XML parser itself'],
  ['validatehash', 'it needs SecHashEngine, which ModSecurity 3 does not implement either'],
  ['validateschema', 'it needs an XML Schema validator, which is not built in'],
]);

/** Every operator but @rx that compiles, as the manual spells it. */
export const operatorNames: readonly string[] = [
  ...Object.keys(TEXT_OPERATORS),
  ...NUMERIC_OPERATORS.keys(),
  ...Object.keys(COMPILERS),
];

/** Lower-case names of the operators whose argument may hold macros: expand them, then call `matchDynamic`. */
export const macroOperators: ReadonlySet<string> = new Set([...textOperators.keys(), ...NUMERIC_OPERATORS.keys()]);

/**
 * Compiles any operator but @rx; names count in any case, an argument is Latin-1 text. Throws OperatorError when the
 * name is unknown or refused, when the argument is wrong, and when a file or native module cannot be loaded.
 */
export const compileOperator = (name: string, argument: string, env: OperatorEnv): OperatorInstance => {
  const key = name.toLowerCase();
  const text = textOperators.get(key);
  if (text) {
    const bytes = ruleBytes(argument);
    return { match: (buf, start, end) => text(bytes, buf, start, end) };
  }
  const numeric = NUMERIC_OPERATORS.get(key);
  if (numeric) {
    const bytes = ruleBytes(argument);
    const number = parseInteger(bytes, 0, bytes.length);
    return { match: (buf, start, end) => numeric(parseInteger(buf, start, end), number) };
  }
  const compile = compilers.get(key);
  if (!compile) {
    const reason = refused.get(key);
    throw new OperatorError(reason ? `@${name} is not supported: ${reason}` : `there is no operator @${name}`);
  }
  try {
    return compile(argument, env);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`@${name} "${argument}": ${(error as Error).message}`, { cause: error });
  }
};

/** Runs one of `macroOperators` with an argument whose macros have been expanded. Throws for other operators. */
export const matchDynamic = (
  name: string,
  argument: Uint8Array,
  buf: Uint8Array,
  start: number,
  end: number,
  _context: OperatorContext,
): boolean => {
  const key = name.toLowerCase();
  const text = textOperators.get(key);
  if (text) return text(argument, buf, start, end);
  const numeric = NUMERIC_OPERATORS.get(key);
  if (!numeric) throw new OperatorError(`@${name} takes no macros in its argument`);
  return numeric(parseInteger(buf, start, end), parseInteger(argument, 0, argument.length));
};
