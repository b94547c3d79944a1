/** What a log line of HAProxy tells of a request that failed; values as they stand there, `-` for none. */
type FailedRequest = {
  /** "Session state at disconnection" in HAProxy's manual: who ended it, and when. */
  termination: unknown;
  /** Why the connection to the origin was not made, if its handshake failed. */
  failure: unknown;
  /** The TLS library's error: `error:CODE:LIBRARY:REASON`. */
  tls: unknown;
};

/** By who ended it (`S` the origin, `s` the time limit for it, `P` HAProxy itself), and what was waited for then. */
const REASONS: Readonly<Record<string, string>> = {
  SC: 'the origin refuses connections',
  sC: 'no connection to the origin in time',
  RC: 'no resources left for a connection to the origin',
  SH: 'the origin hung up before it had answered',
  sH: 'the origin did not answer in time',
  PH: "the origin's answer is not valid HTTP",
  SD: 'the origin hung up in the middle of its answer',
  sD: 'the origin fell silent in the middle of its answer',
};

/** Why a request failed, in words; undefined when the line does not tell. */
export const failureReason = ({ termination, failure, tls }: FailedRequest): string | undefined => {
  if (typeof failure === 'string' && failure.includes('SSL')) {
    const detail = typeof tls === 'string' ? tls.split(':').slice(4).join(':') : '';
    return `TLS with the origin failed: ${detail || failure}`;
  }
  return typeof termination === 'string' ? REASONS[termination.slice(0, 2)] : undefined;
};
