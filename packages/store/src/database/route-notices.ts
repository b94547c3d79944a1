import type pg from 'pg';
import type { Logger } from 'pino';
import type { Database } from './open.ts';

/** See migration 0013. */
export const ROUTES_CHANNEL = 'sallyport_routes';
/** What PostgreSQL knows the listening connection of a node by; it takes 63 characters. */
export const nodeName = (node: string): string => `sallyport node ${node}`;
/** How long after a connection broke the next is made. */
const RECONNECT_MS = 1_000;
/** A connection that is silent for this long is asked, so that one that died without a word is noticed. */
const KEEP_ALIVE_MS = 10_000;

export interface RouteNoticesDeps {
  database: Pick<Database, 'isOwnBackend'>;
  url: string;
  /** A UUID by which the other nodes know this one. */
  node: string;
  /** Ids of rows that other nodes have changed or deleted. */
  onChanged(changed: { hosts: readonly number[]; certificates: readonly number[] }): Promise<void>;
  /** Another node has changed the answers to challenges, and waits to hear that this one holds them. May not reject. */
  onChallenges(change: string): Promise<void>;
  /** Another node holds what this one told of. */
  onChallengesHeld(change: string, node: string): void;
  /** Notices may have been missed: anything may have changed. */
  onGap(): Promise<void>;
  log: Logger;
}

/** More rows than this are not looked up one by one: everything is compared. A restore tells of every row. */
const MOST_ROWS = 5_000;

interface Changed {
  hosts: Set<number>;
  certificates: Set<number>;
}

const nothing = (): Changed => ({ hosts: new Set(), certificates: new Set() });

/**
 * Listens for changes of routes that other nodes commit to the same PostgreSQL (NOTIFY, PostgreSQL manual), until
 * stopped. Resolves when it listens, so that what is read afterwards and what is told leave no gap; rejects when the
 * database can't be reached.
 */
export const listenForRoutes = async (deps: RouteNoticesDeps) => {
  const { database, url, node, onChanged, onGap, log } = deps;
  let client: pg.Client | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let changed = nothing();
  let running: Promise<void> = Promise.resolve();
  let isQueued = false;

  const inTurn = (work: () => Promise<void>): void => {
    running = running.then(work).catch((err: unknown) => log.error({ err }, 'a change of another node was not taken'));
  };

  const take = (notice: pg.Notification): void => {
    if (database.isOwnBackend(notice.processId)) return;
    const [table, id = '', ...rest] = (notice.payload ?? '').split(' ');
    // Not in turn: somebody waits for it, and a change of many hosts may be under way.
    if (table === 'acme_challenges') return void deps.onChallenges(id);
    if (table === 'acme_challenges_held') return void deps.onChallengesHeld(id, rest.join(' '));
    if (table === 'proxy_hosts') changed.hosts.add(Number(id));
    else if (table === 'certificates') changed.certificates.add(Number(id));
    if (isQueued) return;
    isQueued = true;
    // All that arrive while others are taken go together.
    inTurn(async () => {
      isQueued = false;
      const { hosts, certificates } = changed;
      changed = nothing();
      if (isStopped) return;
      if (hosts.size + certificates.size > MOST_ROWS) await onGap();
      else await onChanged({ hosts: [...hosts], certificates: [...certificates] });
    });
  };

  const connect = async (): Promise<void> => {
    const { Client } = (await import('pg')).default;
    const fresh = new Client({
      connectionString: url,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: 10_000,
    });
    fresh.on('error', () => {});
    fresh.on('notification', take);
    try {
      await fresh.connect();
      await fresh.query(`listen ${ROUTES_CHANNEL}`);
      // Only who listens is waited for. A name in the connection string would win over one that is given with it.
      await fresh.query(`set application_name to ${fresh.escapeLiteral(nodeName(node))}`);
    } catch (error) {
      void fresh.end().catch(() => {});
      throw error;
    }
    fresh.once('end', () => {
      if (!isStopped) reconnect();
    });
    client = fresh;
    if (isStopped) await fresh.end();
  };

  const reconnect = (): void => {
    timer = setTimeout(() => {
      connect().then(
        () => inTurn(onGap),
        () => reconnect(),
      );
    }, RECONNECT_MS);
    timer.unref();
  };

  await connect();
  return {
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
      await running;
    },
  };
};
