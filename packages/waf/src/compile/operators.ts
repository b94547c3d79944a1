import { atoi, bytesOf } from '../bytes/bytes.ts';
import type { Macro } from '../model/macro.ts';
import type { CompiledOperator, NumericComparison } from '../model/operator.ts';
import type { Transaction } from '../model/transaction.ts';
import { parsePhraseFile, parsePhrases } from '../operators/phrase-match.ts';
import {
  compileOperator as compileFunction,
  macroOperators,
  matchDynamic,
  operatorNames,
} from '../operators/registry.ts';
import { type CompiledPattern, compilePattern } from '../regex/index.ts';
import type { OperatorNode } from '../seclang/ast.ts';
import { resolveBeside } from '../seclang/resolve-beside.ts';
import { closestName } from './closest-name.ts';
import type { CompileContext } from './context.ts';
import { compileMacro, hasMacro } from './macro.ts';

const knownNames: ReadonlySet<string> = new Set(operatorNames.map((name) => name.toLowerCase()));
const numericNames: ReadonlySet<string> = new Set(['eq', 'ge', 'gt', 'le', 'lt']);
/** Operators whose answer depends on more than the bytes they are given. */
const impure: ReadonlySet<string> = new Set(['geolookup', 'rbl', 'nomatch', 'unconditionalmatch']);

/** Compiles an operator; undefined (with a diagnostic) when it or its argument is not accepted. */
export const compileOperator = (node: OperatorNode, context: CompileContext): CompiledOperator | undefined => {
  const { diagnostics } = context;
  const base = { name: node.name, argument: node.argument, isNegated: node.isNegated };
  try {
    if (node.name === 'rx' || node.name === 'rxglobal') return { ...base, ...compileRegex(node, context) };
    if (!knownNames.has(node.name)) {
      refuseOperator(node, context);
      return undefined;
    }
    return { ...base, ...compileNamed(node, context) };
  } catch (cause) {
    const offset = (cause as { offset?: unknown }).offset;
    const at = typeof offset === 'number' ? ` at offset ${offset}` : '';
    const token = typeof offset === 'number' ? node.argument.slice(offset, offset + 40) : node.argument.slice(0, 80);
    diagnostics.error(
      node.argumentPlace,
      `@${node.name} cannot take this argument: ${(cause as Error).message}${at}`,
      token,
    );
    return undefined;
  }
};

/** Says why: the operator is known and not supported, or there is none of that name. */
const refuseOperator = (node: OperatorNode, { diagnostics }: CompileContext): void => {
  const near = closestName(node.name, ['rx', 'rxGlobal', ...operatorNames]);
  const expected = near === undefined ? 'an operator of SecLang' : `@${near}`;
  try {
    compileFunction(node.name, '', { readFile: () => new Uint8Array(0) });
  } catch (cause) {
    diagnostics.error(node.place, (cause as Error).message, `@${node.name}`, expected);
  }
};

type Compiled = Omit<CompiledOperator, 'name' | 'argument' | 'isNegated'>;

const regexDefaults = (context: CompileContext) => (context.env.dialect === 'modsecurity3' ? { multiline: true } : {});

const compileRegex = (node: OperatorNode, context: CompileContext): Compiled => {
  const isGlobal = node.name === 'rxglobal';
  if (hasMacro(node.argument)) return dynamicRegex(node, isGlobal, context);
  const pattern = compilePattern(node.argument, regexDefaults(context));
  return {
    isPure: true,
    macro: null,
    pattern,
    instance: null,
    phrases: null,
    numeric: null,
    matchesText: null,
    matches: (tx, buf, start, end, isCapturing) => runPattern(pattern, tx, buf, start, end, isCapturing, isGlobal),
  };
};

const runPattern = (
  pattern: CompiledPattern,
  tx: Transaction,
  buf: Uint8Array,
  start: number,
  end: number,
  isCapturing: boolean,
  isGlobal: boolean,
): boolean => {
  if (!pattern.test(buf, start, end, tx.budget)) return false;
  if (!isCapturing) return true;
  if (!isGlobal) {
    tx.captureLater(pattern, buf, start, end, false);
    return true;
  }
  let groups = pattern.exec(buf, start, end, tx.budget);
  if (groups === null) return true;
  tx.storeCaptures(buf, groups);
  for (let slot = groups.length / 2; groups !== null && slot < 10; slot++) {
    const from: number = Math.max(groups[1]!, groups[0]! + 1);
    groups = from > end ? null : pattern.exec(buf, from, end, tx.budget);
    if (groups !== null) tx.storeCapture(slot, buf, groups[0]!, groups[1]!);
  }
  return true;
};

const maxDynamicPatterns = 64;

/** A pattern with macros is compiled from its expanded text; the last few are kept. One that does not compile never matches. */
const dynamicRegex = (node: OperatorNode, isGlobal: boolean, context: CompileContext): Compiled => {
  const macro = compileMacro(node.argument, node.argumentPlace, context);
  const flags = regexDefaults(context);
  const cache = new Map<string, CompiledPattern | null>();
  const patternFor = (source: string): CompiledPattern | null => {
    let pattern = cache.get(source);
    if (pattern === undefined) {
      if (cache.size >= maxDynamicPatterns) cache.clear();
      try {
        pattern = compilePattern(source, flags);
      } catch {
        pattern = null;
      }
      cache.set(source, pattern);
    }
    return pattern;
  };
  return {
    isPure: false,
    macro,
    pattern: null,
    instance: null,
    phrases: null,
    numeric: null,
    matchesText: null,
    matches(tx, buf, start, end, isCapturing) {
      const pattern = patternFor(macro.expand(tx));
      return pattern !== null && runPattern(pattern, tx, buf, start, end, isCapturing, isGlobal);
    },
  };
};

const compileNamed = (node: OperatorNode, context: CompileContext): Compiled => {
  const isNumeric = numericNames.has(node.name);
  const macro = compileMacro(node.argument, node.argumentPlace, context);
  const constant = macro.constant === null ? null : atoi(macro.constant);
  if (isNumeric && macro.constant !== null && !/^\s*[+-]?\d+\s*$/.test(macro.constant)) {
    const message = `@${node.name} compares with ${constant}, which is what it reads here`;
    context.diagnostics.warning(node.argumentPlace, message, node.argument, 'a whole number');
  }
  const numeric = isNumeric ? { comparison: node.name as NumericComparison, argument: macro, constant } : null;
  if (macro.constant === null) {
    if (!macroOperators.has(node.name)) throw new Error('macros are not expanded here');
    return {
      isPure: false,
      macro,
      pattern: null,
      instance: null,
      phrases: null,
      numeric,
      ...expandedOperator(node.name, macro),
    };
  }
  const readFile = (path: string): Uint8Array => {
    if (context.env.readFile === undefined) throw new Error('this caller reads no files');
    return context.env.readFile(resolveBeside(node.argumentPlace.file, path));
  };
  const instance = compileFunction(node.name, node.argument, {
    readFile,
    ...(context.env.geo === undefined ? {} : { geo: context.env.geo }),
    ...(context.env.blockList === undefined ? {} : { blockList: context.env.blockList }),
  });
  if (instance.warning !== undefined) context.diagnostics.warning(node.place, instance.warning, `@${node.name}`);
  return {
    isPure: !impure.has(node.name),
    macro: null,
    pattern: null,
    instance,
    phrases: phrasesOf(node, readFile),
    numeric,
    matchesText: null,
    matches: (tx, buf, start, end, isCapturing) => instance.match(buf, start, end, tx.operatorContext(isCapturing)),
  };
};

const maxRememberedAnswers = 512;
const longestRememberedValue = 64;

/**
 * An operator whose argument is expanded for each request. It mostly comes to the same, and so do the values that are compared with it
 * (names of headers, methods), so the last argument's answers are remembered.
 */
const expandedOperator = (name: string, macro: Macro): Pick<CompiledOperator, 'matches' | 'matchesText'> => {
  let text = '';
  let bytes = bytesOf(text);
  const answers = new Map<string, boolean>();
  const argument = (tx: Transaction): Uint8Array => {
    const expanded = macro.expand(tx);
    if (expanded !== text) {
      text = expanded;
      bytes = bytesOf(text);
      answers.clear();
    }
    return bytes;
  };
  const ask = (tx: Transaction, buf: Uint8Array, start: number, end: number, isCapturing: boolean): boolean =>
    matchDynamic(name, argument(tx), buf, start, end, tx.operatorContext(isCapturing));
  return {
    matches: ask,
    matchesText(tx, value) {
      argument(tx);
      let answer = answers.get(value);
      if (answer === undefined) {
        const asBytes = bytesOf(value);
        answer = ask(tx, asBytes, 0, asBytes.length, false);
        if (value.length <= longestRememberedValue) {
          if (answers.size >= maxRememberedAnswers) answers.clear();
          answers.set(value, answer);
        }
      }
      return answer;
    },
  };
};

const phrasesOf = (node: OperatorNode, readFile: (path: string) => Uint8Array): Uint8Array[] | null => {
  if (node.name === 'pm') return parsePhrases(node.argument);
  if (node.name !== 'pmf' && node.name !== 'pmfromfile') return null;
  const files = node.argument.split(/\s+/).filter(Boolean);
  return files.flatMap((file) => parsePhraseFile(readFile(file)));
};
