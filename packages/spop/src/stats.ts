/** What an agent has done since it was made; `connections` and `outstanding` are of this moment. */
export type Counters = {
  connections: number;
  connectionsTotal: number;
  /** Connections turned away because of maxConnections. */
  connectionsRefused: number;
  healthChecks: number;
  notifies: number;
  acks: number;
  /** NOTIFYs that wait for an asynchronous handler. */
  outstanding: number;
  /** NOTIFYs answered without asking the handler: too many outstanding, or fragments beyond their limit. */
  shed: number;
  handlerErrors: number;
  /** Connections ended because of what the peer sent. */
  protocolErrors: number;
};

/** Makes counters at zero. */
export const createCounters = (): Counters => ({
  connections: 0,
  connectionsTotal: 0,
  connectionsRefused: 0,
  healthChecks: 0,
  notifies: 0,
  acks: 0,
  outstanding: 0,
  shed: 0,
  handlerErrors: 0,
  protocolErrors: 0,
});
