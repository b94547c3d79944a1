import { Command } from 'commander';
import { type CheckOptions, type ExplainOptions, FOUND_SOMETHING } from './waf-options.ts';

// The engine is half of what this program would load: only these two commands need it.
const run = () => import('./waf-run.ts');

/** `sallyport waf check` and `sallyport waf explain`. */
export const wafCommand = (): Command =>
  new Command('waf')
    .description('check firewall rules and explain what they do')
    .addCommand(checkCommand())
    .addCommand(explainCommand());

const checkCommand = (): Command =>
  new Command('check')
    .description('lint rule files: mistakes, rules that can never match, patterns that are slow in other engines')
    .argument('<file...>', 'SecLang files, read in this order as one rule set')
    .option('--json', 'print the report as JSON')
    .option('--strict', `exit with ${FOUND_SOMETHING} also for findings`)
    .action(async (files: string[], options: CheckOptions) => (await run()).checkFiles(files, options));

const explainCommand = (): Command =>
  new Command('explain')
    .description('judge a request from a file and tell which rules looked at what, and why they fired')
    .option('--rules <file...>', 'SecLang files, read in this order as one rule set (default: the rules in force)')
    .requiredOption('--request <file>', 'the request as it stands on the wire: request line, headers, empty line, body')
    .option('--client <address>', 'address the request comes from', '127.0.0.1')
    .option('--paranoia <level>', 'paranoia level of the Core Rule Set, 1 to 4')
    .option('--no-baseline', 'leave out the settings that Sallyport puts in front of a rule set')
    .option('--rule <id>', 'show everything that this rule looked at')
    .option('--all', 'show everything that every rule looked at')
    .option('--json', 'print the explanation as JSON')
    .action(async (options: ExplainOptions, command: Command) => (await run()).explainRequest(options, command));
