import type { NotificationEvent, SettingKey } from '@sallyport/contract';
import type { Logger } from 'pino';
import { repeat } from '../../../dataplane/repeat.ts';
import { nextAfter } from './cron.ts';
import type { ScheduleStore } from './store.ts';

export interface ScheduleDeps {
  store: ScheduleStore;
  read: (key: SettingKey) => Promise<string>;
  /** Makes a scheduled backup. */
  make: () => Promise<unknown>;
  /** Told to the live log and to whoever gets notifications. */
  tell: (event: NotificationEvent) => void;
  /** Called when one could not be made. */
  failed: () => void;
  clock: () => Date;
  log: Logger;
}

const LOOK_MS = 20_000;
/** So long one node is at it before another one tries, and so long it is until a failed one is tried again. */
const LEASE_MS = 10 * 60_000;
const DAY_MS = 86_400_000;

/**
 * Whether the next one is due. The first is at once: who sets a schedule wants a backup, and sees that it works. So is one after
 * a last one that is yet to come, which a clock that went wrong left: else there were none until that moment.
 */
const isDue = (pattern: string, madeAt: string, now: Date): boolean => {
  if (madeAt === '') return true;
  const last = new Date(madeAt);
  return last.getTime() > now.getTime() + LEASE_MS || nextAfter(pattern, last) <= now;
};

/** Makes backups when it is time. All nodes on one store make one together: whoever comes first. */
export const createSchedule = (deps: ScheduleDeps) => {
  const { store, read, make, tell, failed, clock, log } = deps;
  let told: { madeAt: string; time: number } | undefined;

  const tellFailure = (madeAt: string, now: Date, error: Error): void => {
    failed();
    const retry_at = new Date(now.getTime() + LEASE_MS).toISOString();
    log.error({ err: error, retry_at }, 'the scheduled backup could not be made');
    if (told?.madeAt === madeAt && now.getTime() - told.time < DAY_MS) return;
    told = { madeAt, time: now.getTime() };
    tell({
      event_type: 'backup_failed',
      severity: 'error',
      timestamp: now.toISOString(),
      message: `The scheduled backup could not be made: ${error.message}; it is tried again at ${retry_at}`,
      details: { last_made_at: madeAt === '' ? null : madeAt, retry_at },
    });
  };

  const look = async (): Promise<void> => {
    const pattern = await read('backup.schedule');
    if (pattern === '') return;
    const madeAt = await store.madeAt();
    const now = clock();
    if (!isDue(pattern, madeAt, now)) return;
    const until = new Date(now.getTime() + LEASE_MS).toISOString();
    if (!(await store.claim({ madeAt, now: now.toISOString(), until }))) return;
    try {
      await make();
      await store.made({ madeAt, at: now.toISOString(), until });
    } catch (error) {
      tellFailure(madeAt, now, error as Error);
    }
  };

  let looking: Promise<void> = Promise.resolve();
  /** Looks once more after who looks now, and never rejects. */
  const lookAgain = (): Promise<void> => {
    looking = looking.then(look).catch((err: unknown) => log.error({ err }, 'the schedule could not be looked at'));
    return looking;
  };

  return {
    /** To be told when a setting of backups changed; not waited for. */
    changed: (): void => void lookAgain(),

    /** Looks now and then until stopped. */
    start(): { stop(): Promise<void> } {
      void lookAgain();
      const repeating = repeat('look at the backup schedule', LOOK_MS, lookAgain, log);
      return {
        async stop() {
          await repeating.stop();
          await looking;
        },
      };
    },
  };
};
