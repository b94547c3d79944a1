import type { Applied, ConfigChange } from '@sallyport/contract';
import { Command, Option } from 'commander';
import { print, printTable } from '../print.ts';
import { askRunning, readText, withTokenFile } from '../running-service.ts';

interface Options {
  format?: 'yaml' | 'json';
  dryRun?: boolean;
  prune?: boolean;
}

const STANDARD_INPUT = 0;
/** Rules of a firewall are pages. */
const MOST_SHOWN = 60;

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const withToken = (command: Command): Command =>
  withTokenFile(command, 'for settings, and where the API takes one on this host, too');

/** `sallyport export`: asks the running service. */
export const exportCommand = (): Command =>
  withToken(new Command('export'))
    .description('print all that is configured as one document, without secrets, always in the same order')
    .addOption(new Option('--format <format>', 'of the document').choices(['yaml', 'json']).default('yaml'))
    .action(async (options: Options, command: Command) => {
      const { text } = await askRunning(command)('GET', `/export?format=${options.format}`);
      process.stdout.write(text);
    });

const shown = (value: unknown): string => {
  const text = value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
};

const rowsOf = ({ section, name, action, fields }: ConfigChange): string[][] => {
  // Of what comes and goes as a whole its name says enough.
  if (action !== 'update') return [[action, section, name, '', '', '']];
  return fields.map(({ field, before, after }) => [action, section, name, field, shown(before), shown(after)]);
};

/** `sallyport apply`: asks the running service, for a change has to reach its proxy. */
export const applyCommand = (): Command =>
  withToken(new Command('apply'))
    .description(
      'make everything what a document says that "sallyport export" printed, or somebody wrote; all or nothing',
    )
    .argument('<file>', 'YAML or JSON; - is standard input')
    .option('--dry-run', 'check all of it, show what would change, and change nothing')
    .option('--prune', 'in the sections that the document has, remove what it leaves out; default: leave it alone')
    .action(async (path: string, options: Options, command: Command) => {
      const { dryRun: isDry = false, prune: isPruning = false } = options;
      const document = readText(path === '-' ? STANDARD_INPUT : path);
      const body = { type: isJson(document) ? 'application/json' : 'application/yaml', text: document };
      const { text } = await askRunning(command)('POST', `/apply?dry_run=${isDry}&prune=${isPruning}`, body);
      const { changes, batch, backup } = JSON.parse(text) as Applied;
      if (changes.length === 0) {
        print('nothing to change: it is as the document says');
        return;
      }
      printTable(['what', 'section', 'name', 'field', 'before', 'after'], changes.flatMap(rowsOf));
      if (batch !== null) {
        print('');
        print(`what was there is in ${backup}; "sallyport history revert ${batch}" takes it back`);
      }
    });
