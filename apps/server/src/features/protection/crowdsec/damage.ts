import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from './instance.ts';

/** What SQLite says of a database that can't be used, and CrowdSec of one that it was not made known to. */
const DAMAGE =
  /file is not a database|database disk image is malformed|authenticate watcher \(sallyport\): .*machine not found/;

/**
 * Whether what CrowdSec said means that its database can't be used. A full disk or missing rights are no damage. Whoever reaches its
 * local API can put words into its log: they count only when it ended of them, or answers nothing else than errors.
 */
export const isDamage = (said: string): boolean => DAMAGE.test(said);

/** Puts its database and credentials aside, in place of those of an earlier time: the next start makes new ones. */
export const setAside = ({ directory, account }: Pick<Instance, 'directory' | 'account'>): void => {
  const { at } = account.state;
  rmSync(join(directory, 'key'), { force: true });
  if (!existsSync(at)) return;
  rmSync(`${at}.damaged`, { recursive: true, force: true });
  renameSync(at, `${at}.damaged`);
};
