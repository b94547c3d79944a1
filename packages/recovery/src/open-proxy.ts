import { adminSocket } from '@sallyport/deployment/places';
import { banLines, limitEntries, NOTHING_ASKED, switchEntries } from '@sallyport/enforcement/entries';
import { APPLIED, type Applied, attempt, notApplied } from '@sallyport/enforcement/live-map';
import { createEnforcementMaps } from '@sallyport/enforcement/maps';
import { createAdminSocket } from '@sallyport/haproxy';

/**
 * Makes the HAProxy of a data directory let everybody through, as it runs: guards are asked nothing, nobody is banned or limited.
 * Its files are left alone: they are written from the store before it starts again, and a full disk must not matter here.
 * Never rejects: the issue says why it could not.
 */
export const openProxy = async (dataDir: string): Promise<Applied> => {
  const { switches, bans, limits } = createEnforcementMaps(dataDir, createAdminSocket({ path: adminSocket(dataDir) }));
  const results = [
    await attempt(() => switches.replace(switchEntries(NOTHING_ASKED))),
    await attempt(() => limits.replace(limitEntries(null))),
    await attempt(() => bans.replace(banLines(new Map()))),
  ];
  const issue = results.find((result) => !result.applied)?.issue;
  return issue === undefined ? APPLIED : notApplied(issue ?? 'HAProxy refused');
};
