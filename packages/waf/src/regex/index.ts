export { type AhoCorasick, buildAhoCorasick } from './aho-corasick.ts';
export type { PcreFlags, PcreNode } from './ast.ts';
export { classConditions, classMask, fulfilsConditions } from './byte-classes.ts';
export { compilePattern } from './compile-pattern.ts';
export type { CompiledPattern } from './compiled-pattern.ts';
export { defaultFlags, parsePcre } from './parse-pcre.ts';
export { PatternError } from './pattern-error.ts';
export { type PatternGate, passesGate } from './pattern-gate.ts';
export { createBudget, type WorkBudget } from './work-budget.ts';
