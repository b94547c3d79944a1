import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataPlaneFiles, everybodyCleared, judgedFlags, limitKey, switchKeys } from '@sallyport/haproxy';

/** What bans.map holds besides bans. */
export const nobodyBanned = everybodyCleared.map((entry) => `${entry.join(' ')}\n`).join('');

/** Writes what a HAProxy starts from while the security suite is off; without it every request is refused. */
export const enforceNothing = (directory: string): void => {
  writeFileSync(join(directory, dataPlaneFiles.bansMap), nobodyBanned);
  writeFileSync(join(directory, dataPlaneFiles.limitsMap), `${limitKey} 0\n`);
  writeFileSync(join(directory, dataPlaneFiles.switchesMap), `${switchKeys.unasked} ${judgedFlags}\n`);
};
