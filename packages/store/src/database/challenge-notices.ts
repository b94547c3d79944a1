import { sql } from 'kysely';
import type { Database } from './open.ts';
import { nodeName, ROUTES_CHANNEL } from './route-notices.ts';

type Store = Pick<Database, 'kysely' | 'kind'>;

const notify = async ({ kysely, kind }: Store, payload: string): Promise<void> => {
  // SQLite has one node only.
  if (kind === 'postgres') await sql`select pg_notify(${ROUTES_CHANNEL}, ${payload})`.execute(kysely);
};

/** Tells the other nodes that the stored answers to challenges changed; `change` (a UUID) is what they say that they took. */
export const tellChallenges = (store: Store, change: string): Promise<void> =>
  notify(store, `acme_challenges ${change}`);

/** Tells the node that has told of a change that this one holds it. */
export const tellChallengesHeld = (store: Store, change: string, node: string): Promise<void> =>
  notify(store, `acme_challenges_held ${change} ${node}`);

/**
 * The other nodes that listen for changes at the moment. PostgreSQL forgets one as soon as its connection ends; one whose machine
 * lost its power stays for as long as PostgreSQL takes that for silence.
 */
export const listeningNodes = async ({ kysely, kind }: Store, own: string): Promise<string[]> => {
  if (kind === 'sqlite') return [];
  const { rows } = await sql<{ name: string }>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like ${nodeName('%')}
  `.execute(kysely);
  const prefix = nodeName('');
  return rows.map(({ name }) => name.slice(prefix.length)).filter((node) => node !== own);
};
