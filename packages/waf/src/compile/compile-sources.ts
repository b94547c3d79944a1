import { latin1 } from '../bytes/bytes.ts';
import type { Program } from '../model/program.ts';
import type { CompileEnv, RuleSource } from '../model/rule-set.ts';
import { defaultSettings } from '../model/settings.ts';
import type { Directive } from '../seclang/ast.ts';
import { collectDiagnostics, type Diagnostic } from '../seclang/diagnostic.ts';
import { type ParseEnv, parseSecLang } from '../seclang/parse.ts';
import type { CompileContext } from './context.ts';
import { linkProgram } from './link-program.ts';
import { readDrafts } from './read-drafts.ts';
import { createRuleDirectory } from './rule-directory.ts';
import type { RuleActions } from './rule-parts.ts';
import { createTxNames } from './tx-names.ts';

export type CompiledProgram = { readonly program: Program | null; readonly diagnostics: readonly Diagnostic[] };

/** Compiles sources, read as one text in the order given. The program is null when any diagnostic is an error. */
export const compileSources = (
  sources: readonly RuleSource[],
  env: CompileEnv,
  actions: RuleActions,
): CompiledProgram => {
  const found: Diagnostic[] = [];
  const diagnostics = collectDiagnostics(found);
  const parseEnv: ParseEnv = {
    dialect: env.dialect ?? 'modsecurity2',
    expand: (pattern) => env.glob?.(pattern) ?? [pattern],
    read(path) {
      if (env.readFile === undefined) throw new Error('this caller reads no files');
      return latin1(env.readFile(path));
    },
  };
  const directives: Directive[] = [];
  for (const { path, text } of sources) {
    const source = typeof text === 'string' ? text : latin1(text);
    for (const directive of parseSecLang(path, source, parseEnv, diagnostics)) directives.push(directive);
  }
  const settings = defaultSettings(parseEnv.dialect);
  const context: CompileContext = {
    diagnostics,
    txNames: createTxNames(),
    env,
    settings,
    directory: createRuleDirectory(),
  };
  const drafts = readDrafts(directives, settings, context, actions);
  const program = linkProgram(drafts, settings, context, actions);
  const isRefused = found.some(({ severity }) => severity === 'error');
  return { program: isRefused ? null : program, diagnostics: found };
};
