import type { CompileEnv } from '../model/rule-set.ts';
import type { Settings } from '../model/settings.ts';
import type { DiagnosticSink } from '../seclang/diagnostic.ts';
import type { RuleDirectory } from './rule-directory.ts';
import type { TxNames } from './tx-names.ts';

/** What every part of the compiler needs. */
export type CompileContext = {
  readonly diagnostics: DiagnosticSink;
  readonly txNames: TxNames;
  readonly env: CompileEnv;
  /** As all directives have left them. */
  readonly settings: Settings;
  /** Rules by id, tag and message; complete only once all rules are read, so ctl looks here at run time. */
  readonly directory: RuleDirectory;
};
