import type { LapiChanges, LapiDecision } from './lapi.ts';
import type { LapiWriter, WantedDecision } from './lapi-writer.ts';
import { toDecision } from './to-decision.ts';

/** Origin of the decisions that we tell CrowdSec of: they are ours already, and never come back as its own. */
export const OUR_ORIGIN = 'sallyport';
const SCENARIO = 'sallyport/manual';

/** Ends that differ by less are the same: seconds are lost on the way. */
const SAME_MS = 60_000;
/** Who ends so soon by itself was not ended by anybody. */
const ENDING_MS = 5_000;
const NEVER = Number.POSITIVE_INFINITY;
/** No date of CrowdSec's is later; ours without an end are told as ten years. */
const ENDLESS_MS = 9 * 365 * 86_400_000;

/** A decision made by hand here; `ends` in milliseconds since the epoch, infinite for one without an end. */
export interface OwnDecision {
  ip: string;
  ends: number;
}

/** Parts what was told of our own decisions from the rest. */
export const partOurs = ({ added, deleted }: LapiChanges): { ours: LapiChanges; others: LapiChanges } => {
  const isOurs = ({ origin }: LapiDecision) => origin === OUR_ORIGIN;
  return {
    ours: { added: added.filter(isOurs), deleted: deleted.filter(isOurs) },
    others: {
      added: added.filter((told) => !isOurs(told)),
      deleted: deleted.filter((told) => !isOurs(told)),
    },
  };
};

const endOf = (told: LapiDecision, now: number): number | undefined => {
  const expires = toDecision(told, now)?.expires_at;
  if (!expires) return undefined;
  const ends = Date.parse(expires);
  return ends - now > ENDLESS_MS ? NEVER : ends;
};

const isSameEnd = (a: number, b: number): boolean => a === b || Math.abs(a - b) <= SAME_MS;

/** Keeps what CrowdSec knows of our own decisions equal to them. */
export const createMirror = (writer: LapiWriter) => {
  let held = new Map<number, OwnDecision>();
  /** Told since the last full list: a difference may leave them out, and they must not be told twice. */
  let told = new Map<string, number>();

  return {
    /** Takes what CrowdSec tells of them; returns those that somebody has ended there before their time. */
    take({ added, deleted }: LapiChanges, isAll: boolean, now: number): string[] {
      const before = held;
      if (isAll) [held, told] = [new Map(), new Map()];
      const ended = deleted.flatMap(({ id }) => {
        const known = before.get(id);
        held.delete(id);
        if (known === undefined || known.ends - now <= ENDING_MS) return [];
        told.delete(known.ip);
        return [known.ip];
      });
      for (const decision of added) {
        const ends = endOf(decision, now);
        if (ends !== undefined)
          held.set(decision.id, { ip: decision.value, ends: before.get(decision.id)?.ends ?? ends });
      }
      return ended;
    },

    /** Tells it of what it lacks, and ends what is not ours any more. Throws as the writer does; the next call goes on. */
    async settle(own: readonly OwnDecision[], now: number): Promise<void> {
      const wanted = new Map<string, number>();
      for (const { ip, ends } of own) {
        if (ends > now + ENDING_MS) wanted.set(ip, Math.max(ends, wanted.get(ip) ?? 0));
      }
      const known = new Set<string>();
      for (const [id, { ip, ends }] of held) {
        if (!known.has(ip) && isSameEnd(wanted.get(ip) ?? 0, ends)) {
          known.add(ip);
          continue;
        }
        await writer.remove(id);
        held.delete(id);
      }
      const isTold = (ip: string, ends: number) => known.has(ip) || isSameEnd(told.get(ip) ?? 0, ends);
      const missing = [...wanted].filter(([ip, ends]) => !isTold(ip, ends));
      if (missing.length === 0) return;
      const decisions = missing.map(
        ([ip, ends]): WantedDecision => ({
          ip,
          origin: OUR_ORIGIN,
          scenario: SCENARIO,
          leftMs: ends === NEVER ? null : ends - now,
        }),
      );
      await writer.add(decisions, new Date(now).toISOString());
      for (const [ip, ends] of missing) told.set(ip, ends);
    },
  };
};
