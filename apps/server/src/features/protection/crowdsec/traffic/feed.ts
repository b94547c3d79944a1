import { proxySocketMode } from '@sallyport/deployment/proxy-account';
import type { Logger } from 'pino';
import { startLogIntake } from '../../logs/log-intake.ts';
import { readProxyLine } from '../../logs/proxy-line.ts';
import { toAccessLine } from './access-line.ts';
import { createBudget } from './budget.ts';
import { createLogFile, type LogFile } from './log-file.ts';

export interface TrafficFeedDeps {
  /** Unix socket that HAProxy tells of every request on. */
  socket: string;
  /** The log that CrowdSec follows, and the group that it reads it with. */
  path: string;
  group: number | undefined;
  /** Has HAProxy tell of every request, or not any more; resolves when it does, or when it is known why not. */
  tellTraffic: (isWanted: boolean) => Promise<void>;
  log: Logger;
}

const CLIENT = '"client":"';
const STATUS = '"status":';

/** Whose line it is and how it went, without reading all of it: these fields come before any that a client chose. */
const glance = (text: string): { client: string; status: number } | undefined => {
  const at = text.indexOf(CLIENT);
  const statusAt = text.indexOf(STATUS, at);
  if (!text.startsWith('{') || at === -1 || statusAt === -1) return undefined;
  const from = at + CLIENT.length;
  const client = text.slice(from, text.indexOf('"', from));
  return { client, status: Number.parseInt(text.slice(statusAt + STATUS.length, statusAt + STATUS.length + 4), 10) };
};

/** A banned client goes on asking: what it is told is no news, and must not use up what others may write. */
const BANNED = '"refused":"decision"';

/** Writes what HAProxy tells of the traffic into the log that CrowdSec reads, while it is to. */
export const createTrafficFeed = ({ socket, path, group, tellTraffic, log }: TrafficFeedDeps) => {
  const budget = createBudget();
  let file: LogFile | undefined;
  let intake: { stop(): Promise<void> } | undefined;
  /** What files written before have counted, and what never came to one. */
  let past = { written: 0, dropped: 0 };
  let changing: Promise<void> = Promise.resolve();

  const onLine = (text: string): void => {
    if (!text.startsWith('{')) {
      past.dropped += Number(/(\d+) events? dropped/.exec(text)?.[1] ?? 0);
      return;
    }
    if (text.includes(BANNED)) return;
    const seen = glance(text);
    if (!seen) return;
    if (!budget.take(seen.client, seen.status)) {
      past.dropped += 1;
      return;
    }
    const line = readProxyLine(text);
    const entry = line && toAccessLine(line);
    if (entry !== undefined) file?.append(entry);
  };

  const begin = async (): Promise<void> => {
    if (intake) return;
    const opened = createLogFile({ path, group });
    file = opened;
    try {
      intake = await startLogIntake({
        path: socket,
        mode: proxySocketMode(socket),
        onLine,
        onInvalid: () => {
          past.dropped += 1;
        },
      });
    } catch (error) {
      file = undefined;
      await opened.close();
      throw error;
    }
    await tellTraffic(true);
  };

  /** Nobody reads any more. */
  const end = async (): Promise<void> => {
    const [oldIntake, oldFile] = [intake, file];
    [intake, file] = [undefined, undefined];
    await oldIntake?.stop();
    await oldFile?.close();
    const { written, dropped } = oldFile?.counts() ?? { written: 0, dropped: 0 };
    past = { written: past.written + written, dropped: past.dropped + dropped };
  };

  /** One after the other, in the order of the calls. */
  const inTurn = (change: () => Promise<void>): Promise<void> => {
    changing = changing
      .then(change)
      .catch((err: unknown) => log.error({ err }, 'the traffic can not be handed to CrowdSec'));
    return changing;
  };

  return {
    /** Resolves when HAProxy tells of every request, or when it is known why not. */
    begin: (): Promise<void> => inTurn(begin),

    /** Resolves when HAProxy does not tell any more. */
    rest: (): Promise<void> =>
      inTurn(async () => {
        await tellTraffic(false);
        await end();
      }),

    /** Ends with the server: HAProxy goes on telling, for the one that comes next. */
    stop: (): Promise<void> => inTurn(end),

    /** Lines since the server was started. */
    counts(): { written: number; dropped: number } {
      const { written, dropped } = file?.counts() ?? { written: 0, dropped: 0 };
      return { written: past.written + written, dropped: past.dropped + dropped };
    },

    issue: (): string | null => file?.issue() ?? null,
  };
};
