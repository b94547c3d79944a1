import { watchSilence } from '@sallyport/deployment/patience';
import type { PostgresPool } from 'kysely';
import type pg from 'pg';
import { endWhenSilent, type Patience } from './silence.ts';

/** So long a server may say nothing to whoever waits for a connection. With `SILENCE_MS` it makes less than ten seconds. */
const CONNECT_MS = 3_500;
const CONNECTIONS = 10;

/** Of the backend that serves the connection; the driver's types leave it out. */
const processIdOf = (client: pg.PoolClient): number => (client as unknown as { processID: number }).processID;

/**
 * Connections to a PostgreSQL; `backends` gets the processes that serve them. The driver's own limit counts while this process stands
 * still, and refuses who waits for a free connection although the server answers one request after the other.
 */
export const createPool = async (
  connectionString: string,
  backends: Set<number>,
  patience: Patience,
): Promise<PostgresPool> => {
  // Most keep their store in SQLite, and then this would only lie in memory.
  const { Client, Pool } = (await import('pg')).default;
  const waiting = new Set<() => void>();
  const heard = (): void => {
    for (const hear of waiting) hear();
  };

  /** Is made to be connected at once, and gives up when the server takes too long to let it in. */
  class ImpatientClient extends Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      const wire = this as unknown as { connection: { stream: { destroy(): void } } };
      const watch = watchSilence(CONNECT_MS, () => wire.connection.stream.destroy());
      this.once('connect', watch.stop);
      this.once('end', watch.stop);
    }
  }

  const pool = new Pool({ connectionString, max: CONNECTIONS, Client: ImpatientClient });
  // A connection that breaks while nobody uses it is replaced at the next query; without listeners it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    backends.add(processIdOf(client));
    heard();
    endWhenSilent(client, patience, heard);
  });
  pool.on('remove', (client) => void backends.delete(processIdOf(client)));

  return {
    options: pool.options,
    end: () => pool.end(),
    connect() {
      const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>();
      const connecting = pool.connect();
      const watch = watchSilence(CONNECT_MS, () => {
        waiting.delete(watch.heard);
        reject(new Error('timeout exceeded when trying to connect'));
        // It comes nonetheless, to nobody.
        connecting.then(
          (client) => client.release(),
          () => {},
        );
      });
      waiting.add(watch.heard);
      const stopWaiting = (): void => {
        waiting.delete(watch.heard);
        watch.stop();
      };
      connecting.then(stopWaiting, stopWaiting);
      connecting.then(resolve, reject);
      return promise;
    },
  };
};
