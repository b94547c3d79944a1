/** What a domain should answer with: the name of its origin, or nothing because there is no such host. */
export type Target = string | undefined;

interface Change {
  target: Target;
  sentAt: number;
  /** When it was known to be live; undefined = not told yet, so both it and what was before may be seen. */
  liveAt: number | undefined;
  /** When the API answered that it is stored. */
  acknowledgedAt: number | undefined;
}

/** The history of every domain as its clients know it, to judge what the proxy answers. */
export interface Ledger {
  domains(): string[];
  sent(domain: string, target: Target, at: number): Change;
  acknowledged(change: Change, isLive: boolean, at: number): void;
  /** Every change acknowledged until then is live from now on: what was before may not be seen any more. */
  settle(acknowledgedUntil: number, now: number): void;
  /** What a request may be answered with that began and ended at these times. */
  acceptable(domain: string, beganAt: number, endedAt: number): Target[];
  /** What the last acknowledged change of each domain asked for; domains with an unanswered change are left out. */
  expected(): Map<string, Target>;
}

export const createLedger = (): Ledger => {
  const histories = new Map<string, Change[]>();
  const historyOf = (domain: string): Change[] => {
    const history = histories.get(domain) ?? [{ target: undefined, sentAt: 0, liveAt: 0, acknowledgedAt: 0 }];
    histories.set(domain, history);
    return history;
  };
  return {
    domains: () => [...histories.keys()],
    sent(domain, target, at) {
      const change: Change = { target, sentAt: at, liveAt: undefined, acknowledgedAt: undefined };
      historyOf(domain).push(change);
      return change;
    },
    acknowledged(change, isLive, at) {
      change.acknowledgedAt = at;
      if (isLive) change.liveAt = at;
    },
    settle(acknowledgedUntil, now) {
      for (const change of [...histories.values()].flat()) {
        const { acknowledgedAt } = change;
        if (acknowledgedAt !== undefined && acknowledgedAt <= acknowledgedUntil) change.liveAt ??= now;
      }
    },
    acceptable(domain, beganAt, endedAt) {
      const history = historyOf(domain);
      const lastLive = history.findLastIndex(({ liveAt }) => liveAt !== undefined && liveAt <= beganAt);
      return history
        .slice(lastLive)
        .filter(({ sentAt }) => sentAt <= endedAt)
        .map(({ target }) => target);
    },
    expected: () =>
      new Map(
        [...histories].flatMap(([domain, history]) => {
          const last = history.at(-1);
          return last?.acknowledgedAt !== undefined ? [[domain, last.target] as const] : [];
        }),
      ),
  };
};
