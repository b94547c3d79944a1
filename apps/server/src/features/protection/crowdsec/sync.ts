import type { LogEntry } from '@sallyport/contract';
import { systemActor } from '@sallyport/store/actor';
import type { Logger } from 'pino';
import { repeat } from '../../../dataplane/repeat.ts';
import type { Decisions } from '../decisions/service.ts';
import type { ImportedDecision } from '../decisions/store.ts';
import { createKnownDecisions } from './known-decisions.ts';
import { KeyRefused, readDecisions } from './lapi.ts';

/** Name of the source of these decisions. */
export const SOURCE = 'crowdsec';

const POLL_MS = 1_000;
/** Differences lose decisions that come while others are read: the whole list is read again after this time. */
const FULL_MS = 30_000;
/** After so many failures in a row they are no accident: writers that meet make one now and then. */
const MANY_FAILURES = 5;
/** Of more bans at once than these only the number is told. */
const TOLD_EACH = 20;
const ACTOR = systemActor('crowdsec');

export interface SyncDeps {
  port: number;
  decisions: Pick<Decisions, 'replaceSource' | 'updateSource'>;
  publish: (entry: LogEntry) => void;
  clock: () => Date;
  /** It does not know us any more, or answers nothing but errors. */
  onUseless: (isUnknown: boolean) => Promise<void>;
  log: Logger;
}

/** Keeps our decisions of CrowdSec equal to its own, as long as it can be asked; what is known stays when it can't. */
export const createSync = ({ port, decisions, publish, clock, onUseless, log }: SyncDeps) => {
  const known = createKnownDecisions();
  let key: string | undefined;
  let needsAll = true;
  let readAllAt = 0;
  let lastSync: string | null = null;
  let issue: string | null = null;
  let failures = 0;

  const tell = (message: string, fields: LogEntry['fields']): void =>
    publish({ level: 'warn', message, timestamp: clock().toISOString(), source: 'crowdsec', fields });

  const tellBans = (bans: readonly ImportedDecision[]): void => {
    if (bans.length > TOLD_EACH) {
      tell(`CrowdSec banned ${bans.length} addresses`, { count: bans.length });
      return;
    }
    for (const { ip, details, expires_at } of bans) {
      tell(`CrowdSec banned ${ip}: ${details}`, { ip, scenario: details, expires_at });
    }
  };

  const sync = async (withKey: string): Promise<void> => {
    const isAll = needsAll || performance.now() - readAllAt >= FULL_MS;
    // Until it is stored it counts as not read.
    needsAll = true;
    const changes = await readDecisions(port, withKey, isAll);
    const now = clock().getTime();
    if (isAll) {
      const { added } = await decisions.replaceSource(SOURCE, known.replace(changes, now), ACTOR);
      readAllAt = performance.now();
      if (added > 0) tell(`${added} bans of CrowdSec came into force`, { count: added });
    } else {
      const change = known.update(changes, now);
      await decisions.updateSource(SOURCE, change, ACTOR);
      tellBans(change.add);
    }
    needsAll = false;
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

    /** It is stopped: nothing is read, what is known stays. */
    rest(): void {
      key = undefined;
      issue = null;
    },

    lastSync: (): string | null => lastSync,
    issue: (): string | null => issue,
    watch: (): { stop(): Promise<void> } => repeat('read decisions of CrowdSec', POLL_MS, turn, log),
  };
};
