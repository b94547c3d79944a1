import { closedChange } from '@sallyport/store/history/record';
import { historyStore, type StoredChange } from '@sallyport/store/history/store';
import { Command, InvalidArgumentError } from 'commander';
import { createCallApi } from '../call-api.ts';
import { type Deployment, withDeployment } from '../deployment.ts';
import { CommandFailure } from '../failure.ts';
import { print, printTable } from '../print.ts';
import { apiOrigin } from '../running-service.ts';

const MOST_SHOWN = 1_000;
/** A revert is live when it is answered; so is one of a large batch. */
const TOKEN_LIFETIME_MS = 300_000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const count = (text: string): number => {
  const number = Number(text);
  if (!(Number.isInteger(number) && number >= 1 && number <= MOST_SHOWN)) {
    throw new InvalidArgumentError(`must be a number from 1 to ${MOST_SHOWN}.`);
  }
  return number;
};

/** Path of what takes a change back, below the API root; a number names one change, a uuid all of a request. */
const revertPath = (text: string): string => {
  if (UUID.test(text)) return `history/batches/${text.toLowerCase()}/revert`;
  if (/^[1-9]\d{0,8}$/.test(text)) return `history/${text}/revert`;
  throw new InvalidArgumentError('must be the number of a change or the batch that "history list" shows.');
};

/** What became different, by names: values may be long, and some are secret. */
const toRow = (stored: StoredChange): string[] => {
  const { before, after } = closedChange(stored);
  const fields = before && after ? Object.keys(after).join(', ') : after ? 'made' : 'removed';
  const { id, created_at, actor, action, resource, batch, reverts } = stored;
  return [
    String(id),
    created_at,
    actor,
    action,
    resource,
    reverts === null ? fields : `${fields} (takes back ${reverts})`,
    batch,
  ];
};

const list = () =>
  new Command('list')
    .description('list what was changed, newest first; the API shows the values as well')
    .option('--resource <path>', 'only of one object (proxy-hosts/<uuid>) or of one kind (proxy-hosts)')
    .option('--limit <number>', 'how many', count, 50)
    .action(({ resource, limit }: { resource?: string; limit: number }, command: Command) =>
      withDeployment(command, async ({ database }) => {
        const path = resource?.replaceAll(/^\/+|\/+$/g, '');
        const page = await historyStore(database.kysely).list({ resource: path, per_page: limit }, toRow);
        printTable(['id', 'when', 'who', 'action', 'what', 'changed', 'batch'], page.rows);
      }),
    );

/** The administrator that a change is made as; it takes one, as settings and rule sets are an administrator's. */
const administrator = async (
  { users }: Deployment,
  email: string | undefined,
): Promise<{ id: number; email: string }> => {
  const { rows } = await users.list({});
  const administrators = rows.filter(({ role, status }) => role === 'admin' && status === 'active');
  const chosen =
    email === undefined ? administrators[0] : administrators.find((user) => user.email === email.toLowerCase());
  if (chosen) return chosen;
  throw new CommandFailure(
    email === undefined
      ? 'there is no active administrator; see "user create-admin"'
      : `no active administrator has the address ${email}`,
  );
};

const revert = () =>
  new Command('revert')
    .description('take a change back, or all of one request; Sallyport checks it like any other change, and has to run')
    .argument('<change>', 'number or batch that "history list" shows', revertPath)
    .option('--user <email>', 'administrator who takes it back (default: the first one)')
    .action((path: string, options: { user?: string }, command: Command) => {
      const origin = apiOrigin(command);
      return withDeployment(command, async (deployment) => {
        const { tokens, actor } = deployment;
        const { id: owner, email } = await administrator(deployment, options.user);
        const expires_at = new Date(Date.now() + TOKEN_LIFETIME_MS).toISOString();
        const name = 'sallyport history revert';
        const { token, id } = await tokens.create({ name, role: 'admin', expires_at }, owner, actor);
        try {
          const call = createCallApi(origin, token);
          const answer = await call<{ reverted?: string[] } | undefined>('POST', `/${path}`);
          for (const one of answer?.reverted ?? []) print(one);
          print(`taken back, as ${email}`);
        } finally {
          await tokens.remove(id, actor);
        }
      });
    });

/** `sallyport history …` */
export const historyCommand = (): Command =>
  new Command('history').description('what was changed, and taking it back').addCommand(list()).addCommand(revert());
