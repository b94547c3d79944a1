import { readFileSync } from 'node:fs';
import { failureLines } from '@sallyport/deployment/failure-lines';
import { Command } from 'commander';
import { CommandFailure } from './failure.ts';

/** Of the repository: the workspaces have none of their own. */
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('sallyport')
  .version(version, '--version', 'print the version')
  .description('The command line of Sallyport; works on its store, whether the service runs or not')
  .option('--data-dir <path>', 'data directory (default: SALLYPORT_DATA_DIR, else ./data)');

/** In the order of the help. Most of what there is to load opens the store, which a command that asks the service never does. */
const COMMANDS: readonly (readonly [name: string, load: () => Promise<Command>])[] = [
  ['user', async () => (await import('./commands/user.ts')).userCommand()],
  ['token', async () => (await import('./commands/token.ts')).tokenCommand()],
  ['audit', async () => (await import('./commands/audit.ts')).auditCommand()],
  ['backup', async () => (await import('./commands/backup.ts')).backupCommand()],
  ['history', async () => (await import('./commands/history.ts')).historyCommand()],
  ['keys', async () => (await import('./commands/keys.ts')).keysCommand()],
  ['config', async () => (await import('./commands/config.ts')).configCommand()],
  ['migrate', async () => (await import('./commands/migrate.ts')).migrateCommand()],
  ['store', async () => (await import('./commands/store.ts')).storeCommand()],
  ['status', async () => (await import('./commands/status.ts')).statusCommand()],
  ['waf', async () => (await import('./commands/waf.ts')).wafCommand()],
  ['certificate', async () => (await import('./commands/certificate.ts')).certificateCommand()],
  ['import', async () => (await import('./commands/import.ts')).importCommand()],
  ['export', async () => (await import('./commands/as-code.ts')).exportCommand()],
  ['apply', async () => (await import('./commands/as-code.ts')).applyCommand()],
  ['emergency', async () => (await import('./commands/emergency.ts')).emergencyCommand()],
];

/** Those that are named; all for who names none, or wants help before one. */
const wantedCommands = (args: readonly string[]) => {
  const names = new Set(COMMANDS.map(([name]) => name));
  const first = args.findIndex((arg) => names.has(arg));
  const asksWhich = args.slice(0, first).some((arg) => ['help', '-h', '--help'].includes(arg));
  return first === -1 || asksWhich ? COMMANDS : COMMANDS.filter(([name]) => args.includes(name));
};

/** What a person can act on, one line each; a bug keeps its stack. */
const linesOf = (error: unknown): readonly string[] =>
  error instanceof CommandFailure ? [error.message] : failureLines(error);

// Whoever read our output has what was wanted (`| head`): no reason for a stack.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  for (const [, load] of wantedCommands(process.argv.slice(2))) program.addCommand(await load());
  await program.parseAsync();
} catch (error) {
  for (const line of linesOf(error)) process.stderr.write(`sallyport: ${line}\n`);
  process.exitCode = error instanceof CommandFailure ? error.exitCode : 1;
}
