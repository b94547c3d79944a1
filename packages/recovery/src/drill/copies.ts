import { amiss, type Outcome, well } from './outcome.ts';

/** What is known of copies of backups elsewhere. */
export interface KnownCopies {
  /** Where they go; empty: nowhere. */
  to: string;
  /** When the newest was put there, ISO 8601; null: none was. */
  copied_at: string | null;
}

const DAY_MS = 86_400_000;

/** Whether what is copied elsewhere arrives there: the newest copy is not older than a day. */
export const checkCopies = ({ to, copied_at }: KnownCopies, now: Date): Outcome => {
  if (to === '') return well('Backups are not copied elsewhere: backup.copy_url is not set');
  const why = 'copy_problem of GET /api/v1/backups tells why, and POST /api/v1/backups/copies/test tries it';
  if (copied_at === null) return amiss(`No backup was copied to ${to} yet: ${why}`);
  const age = now.getTime() - Date.parse(copied_at);
  if (!(age <= DAY_MS)) return amiss(`The newest copy in ${to} was put there at ${copied_at}: ${why}`);
  return well(`The newest copy in ${to} was put there at ${copied_at}`);
};
