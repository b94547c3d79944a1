import { Cron } from 'croner';

/** The first moment after `after` that a pattern of five fields names, in local time. Throws an `Error` that says what is wrong with it. */
export const nextAfter = (pattern: string, after: Date): Date => {
  const next = new Cron(pattern, { mode: '5-part' }).nextRun(after);
  if (!next) throw new Error('never comes');
  return next;
};
