import type { ImportedDecision } from '../decisions/store.ts';
import type { LapiChanges } from './lapi.ts';
import { toDecision } from './to-decision.ts';

/** A time that is told again as what is left of it moves by this at most. */
const SAME_MS = 5_000;

const isSame = (a: ImportedDecision, b: ImportedDecision): boolean =>
  a.ip === b.ip &&
  a.details === b.details &&
  Math.abs(Date.parse(a.expires_at ?? '') - Date.parse(b.expires_at ?? '')) <= SAME_MS;

/** What CrowdSec has decided, by its ids: several decisions may ban one network, and the longest counts. */
export const createKnownDecisions = () => {
  let byId = new Map<number, ImportedDecision>();

  const bansOf = (networks?: ReadonlySet<string>): ImportedDecision[] => {
    const bans = new Map<string, ImportedDecision>();
    for (const decision of byId.values()) {
      if (networks && !networks.has(decision.ip)) continue;
      const other = bans.get(decision.ip);
      if (!other || (decision.expires_at ?? '') > (other.expires_at ?? '')) bans.set(decision.ip, decision);
    }
    return [...bans.values()];
  };

  return {
    /** Ids of what bans this network. */
    idsOf: (network: string): number[] => [...byId].filter(([, { ip }]) => ip === network).map(([id]) => id),

    bans: (): ImportedDecision[] => bansOf(),

    /** Takes the full list; returns all bans. Ends that were computed before stay as they are, to the millisecond. */
    replace({ added }: LapiChanges, now: number): ImportedDecision[] {
      const before = byId;
      byId = new Map();
      for (const told of added) {
        const decision = toDecision(told, now);
        const old = before.get(told.id);
        if (decision) byId.set(told.id, old && isSame(old, decision) ? old : decision);
      }
      return bansOf();
    },

    /** Takes a difference, what ended first; returns what is to be changed. What is told twice changes nothing. */
    update({ deleted, added }: LapiChanges, now: number): { add: ImportedDecision[]; remove: string[] } {
      const touched = new Set<string>();
      for (const { id } of deleted) {
        const old = byId.get(id);
        if (old) touched.add(old.ip);
        byId.delete(id);
      }
      for (const told of added) {
        const decision = toDecision(told, now);
        const old = byId.get(told.id);
        if (!decision || (old && isSame(old, decision))) continue;
        byId.set(told.id, decision);
        touched.add(decision.ip);
      }
      const add = bansOf(touched);
      const banned = new Set(add.map(({ ip }) => ip));
      return { add, remove: [...touched].filter((ip) => !banned.has(ip)) };
    },
  };
};
