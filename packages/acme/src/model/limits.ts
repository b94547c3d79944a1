/** What a client takes from a CA, which may be hostile, or broken. */
export const limits = {
  /** Of any answer's body. A certificate for 100 names with its chain has some 20,000. */
  answerBytes: 262_144,
  /** For each request, from look-up to the end of the body. */
  requestTimeoutMs: 30_000,
  /** How often one request is sent with a fresh nonce. */
  nonceAttempts: 20,
  /** For an authorization to be decided, or an order to become ready or valid. */
  pollTimeoutMs: 600_000,
  /** Between two looks at the same thing, whatever `Retry-After` says. */
  pollPauseMs: { first: 250, longest: 15_000, longestAsked: 120_000 },
  namesPerOrder: 100,
  chainCertificates: 10,
  alternateChains: 4,
} as const;
