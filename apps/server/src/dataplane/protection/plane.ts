import type { GuardConfig } from '@sallyport/contract';
import type { Config } from '@sallyport/deployment/config';
import { adminSocket, proxyDirectory, trafficSocket } from '@sallyport/deployment/places';
import {
  type GuardSwitches,
  limitEntries,
  networkEntries,
  type RateLimit,
  switchEntries,
} from '@sallyport/enforcement/entries';
import { APPLIED, type Applied, attempt, both, type EnforcementMap } from '@sallyport/enforcement/live-map';
import { createEnforcementMaps } from '@sallyport/enforcement/maps';
import { type ConfigSettings, createAdminSocket, type DataPlane, writeStaticFiles } from '@sallyport/haproxy';
import { toProxySettings } from '../proxy-settings.ts';
import { createBans } from './bans.ts';
import { tellGuards } from './guards.ts';
import { readJudges } from './judges.ts';
import type { BanChange } from './port.ts';
import { reloadHaproxy } from './reload.ts';
import { noteReplacement, retireNoted } from './retire.ts';
import { keepTellingTraffic, tellsTraffic } from './traffic.ts';
import { readUnjudged } from './unjudged.ts';
import { readWindow, writeWindow } from './window.ts';

export interface EnforcementDeps {
  config: Config;
  /** No other change may run during a reload. */
  driver: Pick<DataPlane, 'reload'>;
}

/** Enforces the security suite on this machine: in HAProxy by its maps, in the guards by their configuration. */
export const createEnforcementPlane = ({ config, driver }: EnforcementDeps) => {
  const { dataDir } = config;
  const socket = createAdminSocket({ path: adminSocket(dataDir) });
  const maps = createEnforcementMaps(dataDir, socket);
  const { whitelist, bypass, limits, switches } = maps;
  const bans = createBans(maps.bans);

  const put = async (target: EnforcementMap, entries: [string, string][]): Promise<Applied> => {
    // A full disk keeps the file from being written; what runs can protect all the same.
    const kept = await attempt(() => target.write(entries));
    return both(kept, await attempt(() => target.replace(entries)));
  };

  /** A process that is started by a reload reads the files as well: they have to be as we left them. */
  const restoreFiles = async (): Promise<void> => {
    for (const file of [whitelist, bypass, limits, switches, bans]) await file.restore();
  };

  /** What HAProxy runs with while the processes before it could not be told yet that they are replaced. */
  let running: string | undefined;

  const reconfigure = async (changes: Partial<ConfigSettings>): Promise<Applied> => {
    await writeStaticFiles(proxyDirectory(dataDir), { ...toProxySettings(config), ...changes });
    return attempt(async () => {
      await noteReplacement(dataDir);
      await driver.reload(async () => {
        const wanted = JSON.stringify(changes);
        if (wanted !== running) {
          await restoreFiles();
          await reloadHaproxy(dataDir);
          running = wanted;
        }
        await retireNoted(dataDir);
        running = undefined;
      });
    });
  };

  const changeWindow = async (windowSec: number): Promise<Applied> => {
    if (windowSec === readWindow(dataDir)) return APPLIED;
    const reloaded = await reconfigure({ rateLimit: { windowSec } });
    // Not before: it says what HAProxy runs with, and what did not succeed is tried again.
    if (reloaded.applied) await writeWindow(dataDir, windowSec);
    return reloaded;
  };

  return {
    applyDecisions: (change: BanChange): Promise<Applied> => bans.apply(change),

    /** See `createBans`. */
    hold: bans.hold,
    release: bans.release,

    applyWhitelist: (networks: readonly string[]): Promise<Applied> => put(whitelist, networkEntries(networks)),

    async applyRateLimit(limit: RateLimit | null): Promise<Applied> {
      // The window first: a threshold for one hour must never act on a window of one second, or the other way round.
      const reloaded = limit ? await changeWindow(limit.windowSec) : APPLIED;
      if (!reloaded.applied) return reloaded;
      const bypassed = await put(bypass, networkEntries(limit?.bypass ?? []));
      const limited = both(bypassed, await put(limits, limitEntries(limit)));
      // Told at each start, whatever the settings are by then: the server before may have ended between a reload and this.
      return both(limited, await attempt(() => retireNoted(dataDir)));
    },

    async applyTraffic(isWanted: boolean): Promise<Applied> {
      if (isWanted === tellsTraffic(dataDir)) return APPLIED;
      const reloaded = await reconfigure({ trafficSocket: isWanted ? trafficSocket(dataDir) : null });
      if (reloaded.applied) await keepTellingTraffic(dataDir, isWanted);
      return reloaded;
    },

    applySwitches: (wanted: GuardSwitches): Promise<Applied> => put(switches, switchEntries(wanted)),

    applyGuardConfig: ({ revision, access, waf }: GuardConfig): Promise<Applied> =>
      tellGuards(config, revision, access.enabled || waf.enabled),

    judges: () => readJudges(socket),

    /** Requests that no guard has judged, since HAProxy started; undefined while it does not answer. */
    unjudged: () => readUnjudged(socket),

    stop: (): Promise<void> => bans.stop(),
  };
};
