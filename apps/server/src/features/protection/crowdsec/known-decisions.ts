import type { ImportedDecision } from '../decisions/store.ts';
import type { LapiChanges, LapiDecision } from './lapi.ts';
import { parseGoDuration, toDecision } from './to-decision.ts';

/** A time that is told again as what is left of it moves by this at most. */
const SAME_MS = 5_000;

/** A decision as it was told, and the ban that it is. */
interface Known {
  told: LapiDecision;
  ban: ImportedDecision;
  /** Milliseconds since the epoch. */
  ends: number;
}

/** Looked at for each of tens of thousands, every time that all are told: before anything of it is parsed but its end. */
const isToldAgain = ({ told: old, ends }: Known, told: LapiDecision, now: number): boolean => {
  if (told.value !== old.value || told.scenario !== old.scenario || told.origin !== old.origin) return false;
  if (told.type !== old.type || told.scope !== old.scope) return false;
  const leftMs = parseGoDuration(told.duration);
  return leftMs !== undefined && leftMs > 0 && Math.abs(now + leftMs - ends) <= SAME_MS;
};

const toKnown = (told: LapiDecision, now: number): Known | undefined => {
  const ban = toDecision(told, now);
  return ban && { told, ban, ends: Date.parse(ban.expires_at ?? '') };
};

/** What CrowdSec has decided, by its ids: several decisions may ban one network, and the longest counts. */
export const createKnownDecisions = () => {
  let byId = new Map<number, Known>();

  const bansOf = (networks?: ReadonlySet<string>): ImportedDecision[] => {
    const longest = new Map<string, Known>();
    for (const known of byId.values()) {
      const { ip } = known.ban;
      if (networks && !networks.has(ip)) continue;
      const other = longest.get(ip);
      if (!other || known.ends > other.ends) longest.set(ip, known);
    }
    return Array.from(longest.values(), ({ ban }) => ban);
  };

  return {
    /** Ids of what bans this network. */
    idsOf: (network: string): number[] => [...byId].filter(([, { ban }]) => ban.ip === network).map(([id]) => id),

    bans: (): ImportedDecision[] => bansOf(),

    count: (): number => byId.size,

    /** Takes the full list; returns all bans. Ends that were computed before stay as they are, to the millisecond. */
    replace({ added }: LapiChanges, now: number): ImportedDecision[] {
      const before = byId;
      byId = new Map();
      for (const told of added) {
        const old = before.get(told.id);
        const known = old && isToldAgain(old, told, now) ? old : toKnown(told, now);
        if (known) byId.set(told.id, known);
      }
      return bansOf();
    },

    /** Takes a difference, what ended first; returns what is to be changed. What is told twice changes nothing. */
    update({ deleted, added }: LapiChanges, now: number): { add: ImportedDecision[]; remove: string[] } {
      const touched = new Set<string>();
      for (const { id } of deleted) {
        const old = byId.get(id);
        if (old) touched.add(old.ban.ip);
        byId.delete(id);
      }
      for (const told of added) {
        const old = byId.get(told.id);
        if (old && isToldAgain(old, told, now)) continue;
        const known = toKnown(told, now);
        if (!known) continue;
        byId.set(told.id, known);
        touched.add(known.ban.ip);
      }
      const add = bansOf(touched);
      const banned = new Set(add.map(({ ip }) => ip));
      return { add, remove: [...touched].filter((ip) => !banned.has(ip)) };
    },
  };
};
