import type { EnforcementPlane } from '../../../dataplane/protection/port.ts';
import { type Ban, endedBans, foldBans, type NetworkBan, toEntries } from './bans.ts';
import type { Parts } from './parts.ts';

/** Where decisions in force are read; always the newest committed ones. */
export interface DecisionSource {
  /** Grows with every change of decisions. */
  decisionVersion(): Promise<number>;
  liveDecisions(now: string): Promise<Ban[]>;
  liveDecisionsFor(networks: readonly string[], now: string): Promise<Ban[]>;
}

interface EnforcedBansDeps {
  source: DecisionSource;
  plane: EnforcementPlane;
  parts: Parts;
  clock: () => Date;
  /** Whether the suite enforces such a ban now. */
  isEnforced: (ban: Ban) => boolean;
}

/** Keeps HAProxy's bans equal to the decisions in force. */
export const createEnforcedBans = ({ source, plane, parts, clock, isEnforced }: EnforcedBansDeps) => {
  let bans = new Map<string, NetworkBan>();
  let nextEnd = Number.POSITIVE_INFINITY;
  let knownVersion = -1;

  const notice = () => {
    nextEnd = endedBans(bans, Number.NEGATIVE_INFINITY).nextEnd;
  };

  return {
    /** Reads all of them and tells all of them. */
    async replace(): Promise<void> {
      const version = await source.decisionVersion();
      const live = await source.liveDecisions(clock().toISOString());
      bans = foldBans(live.filter(isEnforced));
      await parts.change('bans', () => plane.applyDecisions({ type: 'replace', entries: toEntries(bans) }));
      knownVersion = version;
      notice();
    },

    /** Reads and tells those of these networks. */
    async update(networks: readonly string[]): Promise<void> {
      const live = foldBans((await source.liveDecisionsFor(networks, clock().toISOString())).filter(isEnforced));
      const remove: string[] = [];
      for (const network of networks) {
        const ban = live.get(network);
        if (ban) bans.set(network, ban);
        else if (bans.delete(network)) remove.push(network);
      }
      if (live.size + remove.length === 0) return;
      await parts.change('bans', () => plane.applyDecisions({ type: 'update', put: toEntries(live), remove }));
      notice();
    },

    /** A change that is about to be taken along made this version; a gap means that somebody else changed decisions as well. */
    willKnow(version: number): void {
      if (version === knownVersion + 1) knownVersion = version;
    },
    isBehind: (version: number): boolean => version !== knownVersion,
    /** Nothing may be taken for known. */
    forget(): void {
      knownVersion = -1;
    },

    hasEnded: (now: number): boolean => now >= nextEnd,
    /** Networks whose ban has ended by then. */
    ended: (now: number): string[] => endedBans(bans, now).ended,
    count: (): number => bans.size,
  };
};
