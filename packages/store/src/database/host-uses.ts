import type { HostUses } from '@sallyport/contract';
import { refuse } from '../errors.ts';
import type { Executor } from './open.ts';

/** How many users of an object are named; the rest is only counted. */
const MAX_NAMED = 100;
/** How many of them a refusal names. */
const MAX_TOLD = 5;

/** The proxy hosts that refer to an object by `column`, oldest first. */
export const hostUses = async (
  db: Executor,
  column: 'remote_server_id' | 'certificate_id' | 'access_list_id',
  id: number,
): Promise<HostUses> => {
  const users = db.selectFrom('proxy_hosts').where(column, '=', id);
  const used_by = await users.select(['id', 'uuid', 'domain']).orderBy('id').limit(MAX_NAMED).execute();
  if (used_by.length < MAX_NAMED) return { used_by, used_by_total: used_by.length };
  const { total } = await users.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { used_by, used_by_total: Number(total) };
};

/** As many of the hosts as are named. */
export const usesOf = (hosts: HostUses['used_by']): HostUses => ({
  used_by: hosts.slice(0, MAX_NAMED),
  used_by_total: hosts.length,
});

const tellUses = ({ used_by, used_by_total }: HostUses): string => {
  const told = used_by.slice(0, MAX_TOLD).map(({ domain, uuid }) => `${domain.split(',', 1)[0]} (${uuid})`);
  const rest = used_by_total - told.length;
  return `used by ${told.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/** Throws a 409 that names some of the hosts, if there are any. */
export const refuseInUse = (what: string, uses: HostUses): void => {
  if (uses.used_by_total === 0) return;
  throw refuse.conflict(`${what} is in use by one or more proxy hosts`, { details: tellUses(uses) });
};
