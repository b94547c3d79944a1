import type { NotificationEvent } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { drillStore } from '@sallyport/store/emergency-drills';
import type { Logger } from 'pino';
import { repeat } from '../../../dataplane/repeat.ts';

export interface ProofWatchDeps {
  db: Executor;
  /** Without a token, and without any drill ever, nobody means to use the path. */
  isSetUp: boolean;
  /** Told to the live log and to whoever gets notifications. */
  tell: (event: NotificationEvent) => void;
  clock: () => Date;
  log: Logger;
}

const LOOK_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** A proof is believed for so long. */
const PROVEN_FOR_MS = 30 * DAY_MS;

const messageOf = (provenAt: string | null, days: number): string =>
  provenAt === null
    ? 'The emergency path has never been proven: run a drill (POST /api/v1/emergency/drill)'
    : `The emergency path was last proven ${days} days ago: run a drill (POST /api/v1/emergency/drill)`;

/** Tells once a day, whatever number of nodes and starts, when the last drill that succeeded is more than 30 days ago. */
export const watchProof = async (deps: ProofWatchDeps): Promise<{ stop(): Promise<void> }> => {
  const { db, isSetUp, tell, clock, log } = deps;
  const look = async (): Promise<void> => {
    const drills = await drillStore(db).read();
    if (!drills) return;
    const { proven_at, since } = drills;
    if (!isSetUp && proven_at === null) return;
    const now = clock();
    const ageMs = now.getTime() - Date.parse(proven_at ?? since);
    if (ageMs <= PROVEN_FOR_MS) return;
    const timestamp = now.toISOString();
    if (!(await drillStore(db).claimTelling(timestamp, new Date(now.getTime() - DAY_MS).toISOString()))) return;
    tell({
      event_type: 'emergency_unproven',
      severity: 'warn',
      timestamp,
      message: messageOf(proven_at, Math.floor(ageMs / DAY_MS)),
      details: { last_proven_at: proven_at },
    });
  };

  await look().catch((err: unknown) => log.error({ err }, 'the last drill could not be looked up'));
  return repeat('look at the last drill', LOOK_MS, look, log);
};
