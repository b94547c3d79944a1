export { compile } from './compile.ts';
export type { CollectionStore, StoredCollection } from './engine/collection-store.ts';
export { defaultLimits, type Limits } from './engine/limits.ts';
export type { RawHeader, RequestExclusion, WafRequest, WafResponse } from './engine/request.ts';
export type { AnomalyScores, LimitHit, RuleMatch, Verdict } from './engine/verdict.ts';
export type { CompileEnv, CompileResult, RuleSet, RuleSource, WafTransaction } from './ruleset.ts';
export { type Diagnostic, formatDiagnostic, type Place } from './seclang/diagnostic.ts';
