import type { Diagnostic } from '@sallyport/waf';
import type { CoreRuleSet } from './core-rule-set.ts';

/** Rule text to compile, together with the Core Rule Set when there is one. */
export interface CompileJob {
  name: string;
  content: string;
  core: CoreRuleSet | undefined;
  /** Longest body that any host takes, bytes: a SecRequestBodyLimit above it would never be met. */
  bodyLimit: number;
}

/** How many rules the text has; null when it does not compile, and then why. */
export interface CompileOutcome {
  ruleCount: number | null;
  errors: readonly Diagnostic[];
  /** What of the text does nothing, or something else than it seems to. */
  warnings: readonly Diagnostic[];
}
