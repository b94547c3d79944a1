import { createConnection } from 'node:net';
import { type Command, describeCommand, encodeCommand } from './command.ts';
import { RuntimeUnavailable } from './runtime-errors.ts';

export type AdminSocketOptions = {
  /** Absolute path of HAProxy's `stats socket` with level admin. */
  path: string;
  /** Longest silence of HAProxy while a command runs, milliseconds. */
  silenceTimeoutMs?: number;
  /** Bytes of one answer that is kept before it is given up. */
  maxReplyBytes?: number;
};

/** Looks that make one silence; one alone may have been a moment in which this process stood still. */
const LOOKS = 8;

/** Sends commands to HAProxy's runtime API, one after the other. */
export type AdminSocket = {
  /** The whole answer as text. Rejects with RuntimeUnavailable. */
  ask(command: Command): Promise<string>;
  /**
   * Hands every line of a list to `onLine`, without keeping the answer. Rejects with RuntimeUnavailable, also when the answer is
   * cut off after some lines were handed on, and with what `onLine` throws.
   */
  askLines(command: Command, onLine: (line: string) => void): Promise<void>;
};

/**
 * One connection per command: the end of the stream frames the answer, so nothing an entry holds can be taken for
 * a prompt, and a HAProxy that was replaced meanwhile is simply the next one to answer (measured: 0.1 ms a command).
 */
export const createAdminSocket = (options: AdminSocketOptions): AdminSocket => {
  const { path, silenceTimeoutMs = 5_000, maxReplyBytes = 64 * 1024 * 1024 } = options;
  let tail: Promise<unknown> = Promise.resolve();

  const run = (command: Command, onChunk: (text: string) => void, maxBytes: number): Promise<void> => {
    const bytes = encodeCommand(command);
    const name = describeCommand(command);
    return new Promise((resolve, reject) => {
      const socket = createConnection({ path });
      let received = 0;
      const fail = (reason: string, cause?: unknown): void => {
        socket.destroy();
        reject(new RuntimeUnavailable(`HAProxy did not answer "${name}": ${reason}`, { cause }));
      };
      socket.setEncoding('utf8');
      // Looks are counted, not the clock: while our own loop stands still, HAProxy's answer lies unread.
      let looks = 0;
      const look = (): void => void socket.setTimeout(silenceTimeoutMs / LOOKS);
      look();
      socket.on('timeout', () => {
        looks += 1;
        look();
        // Node runs timers before it reads.
        setImmediate(() => {
          if (looks >= LOOKS) fail(`silent for ${silenceTimeoutMs} ms`);
        });
      });
      socket.on('error', (error) => fail(error.message, error));
      socket.on('data', (chunk: string) => {
        looks = 0;
        received += chunk.length;
        if (received > maxBytes) return fail(`answer over ${maxBytes} bytes`);
        try {
          onChunk(chunk);
        } catch (error) {
          // Whoever asked is told; thrown from here it would end this process.
          socket.destroy();
          reject(error);
        }
      });
      // Every answer, even an empty one, ends with a line feed: without any byte the process died before it answered.
      socket.on('end', () => (received === 0 ? fail('connection closed') : resolve()));
      socket.on('close', () => fail('connection closed'));
      socket.write(bytes);
    });
  };

  const queued = (command: Command, onChunk: (text: string) => void, maxBytes: number): Promise<void> => {
    const result = tail.then(() => run(command, onChunk, maxBytes));
    tail = result.catch(() => undefined);
    return result;
  };

  return {
    async ask(command) {
      const chunks: string[] = [];
      await queued(command, (chunk) => chunks.push(chunk), maxReplyBytes);
      return chunks.join('');
    },
    async askLines(command, onLine) {
      let rest = '';
      let last: string | undefined;
      const take = (chunk: string): void => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        last = lines.at(-1) ?? last;
        for (const line of lines) if (line !== '') onLine(line);
      };
      // A map of a million hosts is 90 MB, of which nothing is kept here.
      await queued(command, take, Number.POSITIVE_INFINITY);
      // HAProxy ends every list with an empty line: what lacks it may lack entries, which would count as gone.
      if (rest !== '' || last !== '') {
        throw new RuntimeUnavailable(`HAProxy did not answer "${describeCommand(command)}" whole`);
      }
    },
  };
};
