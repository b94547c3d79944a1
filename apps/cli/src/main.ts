import { readFileSync } from 'node:fs';
import { failureLines } from '@sallyport/deployment/failure-lines';
import { Command } from 'commander';
import { applyCommand, exportCommand } from './commands/as-code.ts';
import { auditCommand } from './commands/audit.ts';
import { backupCommand } from './commands/backup.ts';
import { certificateCommand } from './commands/certificate.ts';
import { configCommand } from './commands/config.ts';
import { emergencyCommand } from './commands/emergency.ts';
import { historyCommand } from './commands/history.ts';
import { importCommand } from './commands/import.ts';
import { keysCommand } from './commands/keys.ts';
import { migrateCommand } from './commands/migrate.ts';
import { statusCommand } from './commands/status.ts';
import { storeCommand } from './commands/store.ts';
import { tokenCommand } from './commands/token.ts';
import { userCommand } from './commands/user.ts';
import { wafCommand } from './commands/waf.ts';
import { CommandFailure } from './failure.ts';

/** Of the repository: the workspaces have none of their own. */
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('sallyport')
  .version(version, '--version', 'print the version')
  .description('The command line of Sallyport; works on its store, whether the service runs or not')
  .option('--data-dir <path>', 'data directory (default: SALLYPORT_DATA_DIR, else ./data)')
  .addCommand(userCommand())
  .addCommand(tokenCommand())
  .addCommand(auditCommand())
  .addCommand(backupCommand())
  .addCommand(historyCommand())
  .addCommand(keysCommand())
  .addCommand(configCommand())
  .addCommand(migrateCommand())
  .addCommand(storeCommand())
  .addCommand(statusCommand())
  .addCommand(wafCommand())
  .addCommand(certificateCommand())
  .addCommand(importCommand())
  .addCommand(exportCommand())
  .addCommand(applyCommand())
  .addCommand(emergencyCommand());

/** What a person can act on, one line each; a bug keeps its stack. */
const linesOf = (error: unknown): readonly string[] =>
  error instanceof CommandFailure ? [error.message] : failureLines(error);

// Whoever read our output has what was wanted (`| head`): no reason for a stack.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  for (const line of linesOf(error)) process.stderr.write(`sallyport: ${line}\n`);
  process.exitCode = error instanceof CommandFailure ? error.exitCode : 1;
}
