import type { LogEntry } from '@sallyport/contract';
import { systemActor } from '@sallyport/store/actor';
import type { Logger } from 'pino';
import { repeat } from '../../../dataplane/repeat.ts';
import type { Decisions } from '../decisions/service.ts';
import type { ImportedDecision } from '../decisions/store.ts';
import { createKnownDecisions } from './known-decisions.ts';
import { KeyRefused, readDecisions } from './lapi.ts';
import type { LapiWriter } from './lapi-writer.ts';
import { createMirror, type OwnDecision, partOurs } from './mirror.ts';
import { isBanOfOthers, isOfOthers } from './to-decision.ts';

/** Name of the source of these decisions. */
export const SOURCE = 'crowdsec';
/** That of decisions made by hand, which CrowdSec is told of. */
const BY_HAND = 'manual';
/** More bans than these that are gone here at once were ended by nobody: a backup without them was restored. */
const MOST_ENDED = 100;
/** A ban that ends so soon is not looked after any more. */
const ENDING_MS = 5_000;

const POLL_MS = 1_000;
/** Differences lose decisions that come while others are read: the whole list is read again after this time. */
const FULL_MS = 30_000;
/** Of many it is read less often: reading fifty thousand takes 0.4 s of a processor. */
const FULL_MS_EACH = 2;
/** After so many failures in a row they are no accident: writers that meet make one now and then. */
const MANY_FAILURES = 5;
/** After so many new ones at once the next list is a full one: it is among many that differences lose some. */
const BURST = 100;
/** Of more bans at once than these only the number is told. */
const TOLD_EACH = 20;
const ACTOR = systemActor('crowdsec');

type Parted = ReturnType<typeof partOurs>;

export interface SyncDeps {
  port: number;
  decisions: Pick<Decisions, 'replaceSource' | 'updateSource' | 'ofSource' | 'removeOfSource'>;
  writer: LapiWriter;
  /** Whether lists of others are to be enforced: they come with an enrolment, and go with it. */
  isEnrolled: () => Promise<boolean>;
  publish: (entry: LogEntry) => void;
  clock: () => Date;
  /** It does not know us any more, or answers nothing but errors. */
  onUseless: (isUnknown: boolean) => Promise<void>;
  log: Logger;
  /** Default one second. */
  pollMs?: number;
}

/** Keeps our decisions of CrowdSec equal to its own, as long as it can be asked; what is known stays when it can't. */
export const createSync = (deps: SyncDeps) => {
  const { port, decisions, writer, isEnrolled, publish, clock, onUseless, log, pollMs = POLL_MS } = deps;
  const known = createKnownDecisions();
  const mirror = createMirror(writer);
  /** Its database is a new one, and knows nothing of the bans of the old one. */
  let isAnew = false;
  /** Bans of lists of others that a new database has yet to read. */
  let unread: ImportedDecision[] = [];
  let key: string | undefined;
  let needsAll = true;
  let readAllAt = 0;
  let lastSync: string | null = null;
  let issue: string | null = null;
  let failures = 0;

  const tell = (message: string, fields: LogEntry['fields']): void =>
    publish({ level: 'warn', message, timestamp: clock().toISOString(), source: 'crowdsec', fields });

  const tellBans = (bans: readonly ImportedDecision[]): void => {
    const others = bans.filter(isBanOfOthers).length;
    if (others > 0) tell(`${others} bans of lists of others came into force or were renewed`, { count: others });
    const own = others === 0 ? bans : bans.filter((ban) => !isBanOfOthers(ban));
    if (own.length > TOLD_EACH) {
      tell(`CrowdSec banned ${own.length} addresses`, { count: own.length });
      return;
    }
    for (const { ip, details, expires_at } of own) {
      tell(`CrowdSec banned ${ip}: ${details}`, { ip, scenario: details, expires_at });
    }
  };

  const own = async (): Promise<OwnDecision[]> =>
    (await decisions.ofSource(BY_HAND)).map(({ ip, expires_at }) => ({
      ip,
      ends: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
    }));

  /** Bans of CrowdSec that somebody ended here: it is told, or they would come back. */
  const tellEnded = async (now: number): Promise<void> => {
    const stored = new Set((await decisions.ofSource(SOURCE)).map(({ ip }) => ip));
    const ended = known
      .bans()
      .filter(({ ip, expires_at }) => !stored.has(ip) && Date.parse(expires_at ?? '') > now + ENDING_MS);
    if (ended.length > MOST_ENDED) return;
    for (const { ip } of ended) for (const id of known.idsOf(ip)) await writer.remove(id);
  };

  /**
   * Gives a new database the bans that its predecessor made, as far as they are known here. Lists of others it reads again: given
   * back, they would be told to those others as what was seen here.
   */
  const giveBack = async (now: number): Promise<void> => {
    const stored = await decisions.ofSource(SOURCE);
    unread = stored.filter(isBanOfOthers);
    const lost = stored
      .filter((ban) => !isBanOfOthers(ban))
      .map(({ ip, details, expires_at }) => ({
        ip,
        origin: SOURCE,
        scenario: details.replace(/ \([^()]*\)$/, ''),
        leftMs: expires_at === null ? null : Date.parse(expires_at) - now,
      }));
    await writer.add(lost, new Date(now).toISOString());
    isAnew = false;
  };

  const enforced = async ({ ours, others }: Parted): Promise<Parted> => {
    if (!others.added.some(isOfOthers) || (await isEnrolled())) return { ours, others };
    return { ours, others: { ...others, added: others.added.filter((told) => !isOfOthers(told)) } };
  };

  /** What a new database has yet to read of lists of others: until it has, what is known of them stays. */
  const stillUnread = (bans: readonly ImportedDecision[], now: number): ImportedDecision[] => {
    if (bans.some(isBanOfOthers)) unread = [];
    return unread.filter(({ expires_at }) => Date.parse(expires_at ?? '') > now);
  };

  const sync = async (withKey: string): Promise<void> => {
    const fullMs = Math.max(FULL_MS, known.count() * FULL_MS_EACH);
    const isAll = needsAll || performance.now() - readAllAt >= fullMs;
    // Until it is stored it counts as not read.
    needsAll = true;
    const before = clock().getTime();
    if (isAnew) await giveBack(before);
    if (isAll) await tellEnded(before);
    const { ours, others } = await enforced(partOurs(await readDecisions(port, withKey, isAll)));
    const now = clock().getTime();
    if (isAll) {
      const bans = known.replace(others, now);
      const { added } = await decisions.replaceSource(SOURCE, [...stillUnread(bans, now), ...bans], ACTOR);
      readAllAt = performance.now();
      if (added > 0) tell(`${added} bans of CrowdSec came into force`, { count: added });
    } else {
      const change = known.update(others, now);
      await decisions.updateSource(SOURCE, change, ACTOR);
      tellBans(change.add);
    }
    needsAll = !isAll && others.added.length > BURST;
    const ended = mirror.take(ours, isAll, now);
    if (ended.length > 0) await decisions.removeOfSource(BY_HAND, ended, ACTOR);
    await mirror.settle(await own(), now);
    lastSync = clock().toISOString();
  };

  const turn = async (): Promise<void> => {
    if (key === undefined) return;
    try {
      await sync(key);
      issue = null;
      failures = 0;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (issue === null)
        log.warn({ reason }, 'the decisions of CrowdSec could not be read; those known stay in force');
      issue = `its decisions can't be read: ${reason}`;
      failures += 1;
      if (error instanceof KeyRefused || failures >= MANY_FAILURES) await onUseless(error instanceof KeyRefused);
    }
  };

  return {
    /** It was started: everything is read, and then followed. */
    follow(withKey: string): void {
      key = withKey;
      needsAll = true;
    },

    /** It begins with a new database, which gets the bans that are known here. */
    giveBack(): void {
      isAnew = true;
    },

    /** The enrolment has ended, and the bans of others with it. */
    async dropOthers(): Promise<void> {
      unread = [];
      needsAll = true;
      const bans = (await decisions.ofSource(SOURCE)).filter(isBanOfOthers);
      if (bans.length > 0)
        await decisions.removeOfSource(
          SOURCE,
          bans.map(({ ip }) => ip),
          ACTOR,
        );
    },

    /** It is stopped: nothing is read, what is known stays. */
    rest(): void {
      key = undefined;
      issue = null;
    },

    lastSync: (): string | null => lastSync,
    issue: (): string | null => issue,
    watch: (): { stop(): Promise<void> } => repeat('read decisions of CrowdSec', pollMs, turn, log),
  };
};
