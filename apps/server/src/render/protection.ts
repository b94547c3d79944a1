import type { Config } from '@sallyport/deployment/config';
import { adminSocket, proxyDirectory } from '@sallyport/deployment/places';
import { banLines, limitEntries, NOTHING_ASKED, networkEntries, switchEntries } from '@sallyport/enforcement/entries';
import { createEnforcementMaps } from '@sallyport/enforcement/maps';
import { createAdminSocket, writeStaticFiles } from '@sallyport/haproxy';
import { readWindow, writeWindow } from '../dataplane/protection/window.ts';
import { toProxySettings } from '../dataplane/proxy-settings.ts';
import {
  type CoreRuleSet,
  computeState,
  createGuardConfigFile,
  type EnforcementSource,
  foldBans,
  isEnforced,
} from '../features/protection/stored.ts';

export interface RenderEnforcementDeps {
  config: Config;
  source: EnforcementSource;
  core: () => CoreRuleSet | undefined;
  clock: () => Date;
}

/**
 * Has HAProxy start with everybody let through, which a full disk has room for and no store is needed for: an emergency reset
 * waits to be stored. Rejects when something can't be written; that is then empty, which refuses.
 */
export const renderOpen = async (dataDir: string): Promise<void> => {
  const maps = createEnforcementMaps(dataDir, createAdminSocket({ path: adminSocket(dataDir) }));
  await maps.switches.write(switchEntries(NOTHING_ASKED));
  await maps.limits.write(limitEntries(null));
  await maps.bans.write(banLines(new Map()));
};

/**
 * Writes all that HAProxy and the guards start to enforce with, out of the store, and the configuration that depends on it.
 * Rejects when something can't be read or written; what was not written is then as it was, or empty, which refuses.
 */
export const renderEnforcement = async ({ config, source, core, clock }: RenderEnforcementDeps): Promise<void> => {
  const { dataDir } = config;
  const now = clock();
  const state = computeState(await source.facts(), core(), now.getTime());
  const live = await source.liveDecisions(now.toISOString());
  const bans = foldBans(live.filter((ban) => isEnforced(state, ban)));
  const maps = createEnforcementMaps(dataDir, createAdminSocket({ path: adminSocket(dataDir) }));
  const { rateLimit, whitelist, switches } = state;
  // The guards' part before HAProxy is told to ask for it.
  const guardFile = createGuardConfigFile(dataDir);
  await guardFile.write(state.guard);
  await maps.switches.write(switchEntries({ ...switches, policy: guardFile.revision(), remembered: 0 }));
  await maps.bans.write(banLines(new Map([...bans].map(([network, { reference }]) => [network, reference]))));
  await maps.whitelist.write(networkEntries(whitelist));
  await maps.bypass.write(networkEntries(rateLimit?.bypass ?? []));
  const windowSec = rateLimit?.windowSec ?? readWindow(dataDir);
  await writeStaticFiles(proxyDirectory(dataDir), { ...toProxySettings(config), rateLimit: { windowSec } });
  // The threshold after its window: it must never act on another one.
  await maps.limits.write(limitEntries(rateLimit));
  await writeWindow(dataDir, windowSec);
};
