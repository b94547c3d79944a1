import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from './instance.ts';

/** Puts its database and credentials aside, in place of those of an earlier time: the next start makes new ones. */
export const setAside = ({ directory, account }: Pick<Instance, 'directory' | 'account'>): void => {
  const { at } = account.state;
  rmSync(join(directory, 'key'), { force: true });
  if (!existsSync(at)) return;
  rmSync(`${at}.damaged`, { recursive: true, force: true });
  renameSync(at, `${at}.damaged`);
};
