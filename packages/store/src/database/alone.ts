import type pg from 'pg';

/** Something that only one node of a PostgreSQL may run at a time. */
export interface Alone {
  /**
   * Tries to be the node that runs it; resolves to the name of the one that does, undefined when that is this one.
   * Rejects when the database can't be reached.
   */
  take(): Promise<string | undefined>;
  release(): Promise<void>;
}

/** For a store that belongs to one node. */
export const alwaysAlone: Alone = { take: async () => undefined, release: async () => {} };

/** First half of our advisory locks' key; the second is told apart by `key`. */
const LOCKS = 0x5a11;
const CONNECT_MS = 5_000;
const KEEP_ALIVE_MS = 5_000;
const NAME = 'sallyport on ';

const HOLDER = `select a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.classid = $1 and l.objid = $2
  and l.database = (select oid from pg_database where datname = current_database())`;

/**
 * An advisory lock (PostgreSQL manual, Explicit Locking) held by a connection of its own, which ends with this node. `node` is what others
 * are told of this one; `onLost` is called when the connection ends although nobody released the lock.
 */
export const createAlone = (url: string, key: number, node: string, onLost: () => void): Alone => {
  let held: pg.Client | undefined;

  const connect = async (): Promise<pg.Client> => {
    const { Client } = (await import('pg')).default;
    const client = new Client({
      connectionString: url,
      // Names of connections have 63 bytes at most.
      application_name: `${NAME}${node}`.slice(0, 63),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_MS,
    });
    client.on('error', () => {});
    await client.connect();
    return client;
  };

  return {
    async take() {
      if (held) return undefined;
      const client = await connect();
      try {
        const taken = await client.query('select pg_try_advisory_lock($1, $2) as taken', [LOCKS, key]);
        if (taken.rows[0]?.taken === true) {
          held = client;
          client.once('end', () => {
            if (held !== client) return;
            held = undefined;
            onLost();
          });
          return undefined;
        }
        const holder = await client.query(HOLDER, [LOCKS, key]);
        const name = String(holder.rows[0]?.name ?? '');
        await client.end();
        return name.startsWith(NAME) ? name.slice(NAME.length) : 'another node';
      } catch (error) {
        await client.end().catch(() => undefined);
        throw error;
      }
    },

    async release() {
      const client = held;
      held = undefined;
      await client?.end();
    },
  };
};
