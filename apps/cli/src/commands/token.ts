import type { Role } from '@sallyport/contract';
import { Command, InvalidArgumentError, Option } from 'commander';
import { withDeployment } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { print, printTable } from '../print.ts';

const DAY_MS = 86_400_000;

const days = (text: string): number => {
  const number = Number(text);
  if (!(Number.isInteger(number) && number >= 1 && number <= 36_500)) {
    throw new InvalidArgumentError('must be a whole number of days.');
  }
  return number;
};

const tokenId = (text: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be the number that "token list" shows.');
  return Number(text);
};

const create = () =>
  new Command('create')
    .description('make an API token; it is printed once')
    .requiredOption('--user <email>', 'whom the token acts for')
    .requiredOption('--name <name>', 'what the token is for')
    .addOption(new Option('--role <role>', 'rights of the token').choices(['admin', 'user']).default('user'))
    .option('--expires-days <days>', 'when it stops working (default: never)', days)
    .action((options: { user: string; name: string; role: Role; expiresDays?: number }, command: Command) =>
      withDeployment(command, async ({ users, tokens, actor }) => {
        const owner = await users.findByEmail(options.user);
        if (!owner) throw new CommandFailure(`no user has the address ${options.user}`);
        const { name, role, expiresDays } = options;
        const expires_at = expiresDays === undefined ? null : new Date(Date.now() + expiresDays * DAY_MS).toISOString();
        const { token } = await tokens.create({ name, role, expires_at }, owner.id, actor);
        // Nothing else, so that the output can be piped to where the token is needed.
        print(token);
      }),
    );

const list = () =>
  new Command('list').description('list API tokens').action((_options: object, command: Command) =>
    withDeployment(command, async ({ tokens }) => {
      const page = await tokens.list({});
      const rows = page.rows.map((token) => [
        String(token.id),
        token.name,
        token.role,
        token.owner,
        `${token.hint}…`,
        token.expires_at ?? 'never',
        token.last_used_at ?? 'never',
      ]);
      printTable(['id', 'name', 'role', 'acts for', 'begins with', 'expires', 'last used'], rows);
    }),
  );

const revoke = () =>
  new Command('revoke')
    .description('revoke an API token')
    .argument('<id>', 'number that "token list" shows', tokenId)
    .action((id: number, _options: object, command: Command) =>
      withDeployment(command, async ({ tokens, actor }) => {
        await tokens.remove(id, actor);
        print(`token ${id} revoked`);
      }),
    );

/** `sallyport token …` */
export const tokenCommand = (): Command =>
  new Command('token').description('API tokens').addCommand(create()).addCommand(list()).addCommand(revoke());
