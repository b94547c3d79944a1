/** Bounds of an agent. A peer that exceeds one of the first three is disconnected with the reason. */
export type Limits = {
  /** Messages in one NOTIFY; default 16. */
  maxMessages: number;
  /** Arguments of one message, at most 255; default 64. */
  maxArguments: number;
  /** Bytes of a fragmented NOTIFY put together; default 0: fragmentation is not announced and HAProxy sends none. */
  maxFragmentedSize: number;
  /** Connections at a time; further ones are answered with DISCONNECT 13. Default 1024. */
  maxConnections: number;
  /** NOTIFYs of one connection that wait for an asynchronous handler; no more is read until one is answered. Default 128. */
  maxOutstandingPerConnection: number;
  /** The same over all connections; a further NOTIFY is answered at once with no actions and counted. Default 2048. */
  maxOutstanding: number;
  /** Time for HAProxy to send its hello, and for a frame to arrive whole once begun; default 5,000 ms. */
  frameTimeoutMs: number;
  /** Time for an asynchronous handler; then the NOTIFY is answered with no actions. Default 30,000 ms. */
  handlerTimeoutMs: number;
  /** Quiet time after which the agent closes; keep it above HAProxy's own. Default 1 hour. */
  idleTimeoutMs: number;
  /** How long a closed connection may linger for HAProxy to close its side; default 1,000 ms. */
  lingerTimeoutMs: number;
};

const DEFAULTS: Limits = {
  maxMessages: 16,
  maxArguments: 64,
  maxFragmentedSize: 0,
  maxConnections: 1024,
  maxOutstandingPerConnection: 128,
  maxOutstanding: 2048,
  frameTimeoutMs: 5_000,
  handlerTimeoutMs: 30_000,
  idleTimeoutMs: 3_600_000,
  lingerTimeoutMs: 1_000,
};

/** Completes limits with the defaults; throws RangeError naming one that is not a whole number in its range. */
export const withDefaultLimits = (given: Partial<Limits>): Limits => {
  const limits = { ...DEFAULTS, ...given };
  for (const [name, value] of Object.entries(limits)) {
    const least = name === 'maxFragmentedSize' ? 0 : 1;
    if (!Number.isSafeInteger(value) || value < least) {
      throw new RangeError(`${name} must be a whole number from ${least}, not ${value}`);
    }
  }
  if (limits.maxArguments > 255) throw new RangeError('maxArguments is at most 255: SPOP counts in one byte');
  return limits;
};
