import { Command } from 'commander';
import { withDeployment } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { print } from '../print.ts';

const verify = () =>
  new Command('verify')
    .description('recompute the chain of audit entries; fails when one was changed, added or removed')
    .action((_options: object, command: Command) =>
      withDeployment(command, async ({ audit }) => {
        const report = await audit.verify();
        if (!report.ok) {
          throw new CommandFailure(
            `entry ${report.id}: ${report.reason} (${report.entries} entries before it are intact)`,
          );
        }
        print(report.entries === 1 ? '1 entry, intact' : `${report.entries} entries, all intact`);
      }),
    );

/** `sallyport audit …` */
export const auditCommand = (): Command => new Command('audit').description('the audit trail').addCommand(verify());
