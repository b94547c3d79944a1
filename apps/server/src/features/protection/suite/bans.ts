import type { BanEntry } from '../../../dataplane/protection/port.ts';

/** A decision in force. */
export interface Ban {
  ip: string;
  uuid: string;
  source: string;
  expires_at: string | null;
}

/** The ban of a network: of all its decisions the one that lasts longest. */
export interface NetworkBan {
  /** `<source>/<uuid>` of the decision: what refuses a request tells whose ban it was. */
  reference: string;
  /** Milliseconds since the epoch; Infinity: until deleted. */
  endsAt: number;
}

const endOf = ({ expires_at }: Ban): number =>
  expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);

/** A line of a map ends a value at the first blank; programs name themselves. */
const referenceOf = ({ source, uuid }: Ban): string => `${source.replaceAll(/[^\w-]/g, '').slice(0, 32)}/${uuid}`;

/** Folds decisions into one ban a network. */
export const foldBans = (decisions: Iterable<Ban>): Map<string, NetworkBan> => {
  const bans = new Map<string, NetworkBan>();
  for (const decision of decisions) {
    const endsAt = endOf(decision);
    const other = bans.get(decision.ip);
    if (!other || endsAt > other.endsAt) bans.set(decision.ip, { reference: referenceOf(decision), endsAt });
  }
  return bans;
};

export const toEntries = (bans: ReadonlyMap<string, NetworkBan>): BanEntry[] =>
  [...bans].map(([network, { reference }]) => ({ network, reference }));

/** The networks whose ban ended by `now`, and when the next one ends (Infinity: none does). */
export const endedBans = (bans: ReadonlyMap<string, NetworkBan>, now: number): { ended: string[]; nextEnd: number } => {
  const ended: string[] = [];
  let nextEnd = Number.POSITIVE_INFINITY;
  for (const [network, { endsAt }] of bans) {
    if (endsAt <= now) ended.push(network);
    else if (endsAt < nextEnd) nextEnd = endsAt;
  }
  return { ended, nextEnd };
};
