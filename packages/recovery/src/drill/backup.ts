import { amiss, type Outcome, well } from './outcome.ts';

export interface VerifiedBackup {
  name: string;
  /** ISO 8601. */
  created_at: string;
}

const DAY_MS = 86_400_000;

/** Whether there is a backup to fall back on that was verified and is not older than a day. */
export const checkBackup = (newest: VerifiedBackup | null, now: Date): Outcome => {
  const how = '"sallyport backup create" or POST /api/v1/backups';
  if (!newest) return amiss(`No backup is there that verifies: make one (${how})`);
  const { name, created_at } = newest;
  const age = now.getTime() - Date.parse(created_at);
  if (!(age <= DAY_MS))
    return amiss(`The newest backup that verifies, ${name}, is of ${created_at}: make another one (${how})`);
  return well(`The backup ${name} of ${created_at} verifies`);
};
