import type { User } from '@sallyport/contract';
import { Command } from 'commander';
import { type Deployment, withDeployment } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { print, printTable } from '../print.ts';
import { type ChosenPassword, choosePassword } from '../read-password.ts';

const findUser = async ({ users }: Deployment, email: string): Promise<User> => {
  const user = await users.findByEmail(email);
  if (!user) throw new CommandFailure(`no user has the address ${email}`);
  return user;
};

const tell = ({ password, isGenerated }: ChosenPassword) => {
  if (isGenerated) print(`password: ${password}`);
};

const createAdmin = () =>
  new Command('create-admin')
    .description('add an active administrator; without --password-stdin a password is made and shown')
    .argument('<email>')
    .option('--name <name>', 'name to show', '')
    .option('--password-stdin', 'read the password from standard input', false)
    .action((email: string, options: { name: string; passwordStdin: boolean }, command: Command) =>
      withDeployment(command, async ({ users, actor }) => {
        const chosen = await choosePassword(options.passwordStdin);
        const { password } = chosen;
        const user = await users.create({ email, name: options.name, password, role: 'admin' }, actor);
        print(`administrator ${user.email} added`);
        tell(chosen);
      }),
    );

const resetPassword = () =>
  new Command('reset-password')
    .description('set a new password and end all sessions; without --password-stdin one is made and shown')
    .argument('<email>')
    .option('--password-stdin', 'read the password from standard input', false)
    .option('--activate', 'let a disabled or invited user sign in again', false)
    .option('--clear-totp', 'turn two-factor sign-in off', false)
    .action(
      (email: string, options: { passwordStdin: boolean; activate: boolean; clearTotp: boolean }, command: Command) =>
        withDeployment(command, async (deployment) => {
          const { users, actor } = deployment;
          const { id } = await findUser(deployment, email);
          const chosen = await choosePassword(options.passwordStdin);
          const { password } = chosen;
          const patch = { password, ...(options.activate ? ({ status: 'active' } as const) : {}) };
          const user = await users.update(id, patch, actor);
          if (options.clearTotp) await users.clearTotp(id, actor);
          print(`password of ${user.email} set`);
          tell(chosen);
          if (user.status !== 'active') print(`the user is ${user.status} and can not sign in; see --activate`);
        }),
    );

const list = () =>
  new Command('list').description('list users').action((_options: object, command: Command) =>
    withDeployment(command, async ({ users }) => {
      const page = await users.list({});
      const rows = page.rows.map((user) => [
        String(user.id),
        user.email,
        user.role,
        user.status,
        user.totp_enabled ? 'yes' : 'no',
        user.last_login ?? 'never',
      ]);
      printTable(['id', 'email', 'role', 'status', 'two-factor', 'last sign-in'], rows);
    }),
  );

/** `sallyport user …` */
export const userCommand = (): Command =>
  new Command('user')
    .description('administrators and users')
    .addCommand(createAdmin())
    .addCommand(resetPassword())
    .addCommand(list());
