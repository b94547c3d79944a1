import { createAdminSocket } from '@sallyport/haproxy';

/** HAProxy answers within milliseconds; after this it is not fit to serve either. */
const ANSWER_WITHIN_MS = 1_000;
/** Whoever asks is answered by then, with what was known before. */
const WAIT_MS = 300;
/** Anybody may ask: HAProxy is not asked more often than this. */
const FRESH_MS = 500;

interface PulseOptions {
  /** Milliseconds since some moment. */
  now?: () => number;
  waitMs?: number;
}

/** Tells whether HAProxy answers on its admin socket at the moment, for any number of callers. */
export const createProxyPulse = (
  path: string,
  { now = () => performance.now(), waitMs = WAIT_MS }: PulseOptions = {},
) => {
  const socket = createAdminSocket({ path, silenceTimeoutMs: ANSWER_WITHIN_MS });
  let isUp = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    askedAt = now();
    isUp = await socket.ask({ words: ['show', 'version'] }).then(
      () => true,
      () => false,
    );
    asking = undefined;
  };

  return {
    async isUp(): Promise<boolean> {
      if (!asking && now() - askedAt >= FRESH_MS) asking = ask();
      if (asking) {
        const waiting = Promise.withResolvers<void>();
        const timer = setTimeout(waiting.resolve, waitMs);
        await Promise.race([asking, waiting.promise]);
        clearTimeout(timer);
      }
      return isUp;
    },
  };
};
