import { type SilenceWatch, watchSilence } from '@sallyport/deployment/patience';
import type pg from 'pg';

/** How long a server may say nothing while it is asked something, before its connection is given up. */
export const SILENCE_MS = 6_000;

/** Whether statements may take as long as they need at the moment. */
export interface Patience {
  isEndless: boolean;
}

/** What the driver has of a connection; its types leave it out. */
interface Wire {
  connection: {
    stream: NodeJS.ReadWriteStream & { destroy(): void };
    on(event: 'readyForQuery', listener: () => void): void;
  };
}

/**
 * Ends a connection whose server was asked something and has said nothing for `SILENCE_MS`: stopped, cut off without a word, or
 * waiting for a lock that nobody gives back. Everything that waits on it then fails at once, a rollback too. A long answer
 * that flows is none. The driver's own limit leaves the connection in the pool, for the next one to wait on. `onWord` is
 * called whenever the server says something.
 */
export const endWhenSilent = (client: pg.ClientBase, patience: Patience, onWord: () => void = () => {}): void => {
  const { connection } = client as unknown as Wire;
  const { stream } = connection;
  let watch: SilenceWatch | undefined;
  const stopWaiting = (): void => {
    watch?.stop();
    watch = undefined;
  };
  const wait = (): void => {
    watch = watchSilence(SILENCE_MS, () => {
      if (patience.isEndless) wait();
      else stream.destroy();
    });
  };
  const write = stream.write.bind(stream);
  stream.write = ((...given: Parameters<typeof write>) => {
    if (!watch) wait();
    return write(...given);
  }) as typeof stream.write;
  stream.on('data', () => {
    watch?.heard();
    onWord();
  });
  connection.on('readyForQuery', stopWaiting);
  stream.on('close', stopWaiting);
};
