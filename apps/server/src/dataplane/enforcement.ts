import type { GuardConfig } from '@sallyport/contract';
import {
  createAdminSocket,
  type DataPlane,
  dataPlaneFiles,
  routeFlags,
  switchKeys,
  writeStaticFiles,
} from '@sallyport/haproxy';
import type { Config } from '../config.ts';
import { adminSocket, proxyDirectory, toProxySettings } from './deployment.ts';
import { type BanChange, createBans } from './enforcement-bans.ts';
import { tellGuards } from './enforcement-guards.ts';
import { readJudges } from './enforcement-judges.ts';
import { APPLIED, type Applied, attempt, both, createEnforcementMap, mapKeys } from './enforcement-map.ts';
import { reloadHaproxy } from './enforcement-reload.ts';
import { readUnjudged } from './enforcement-unjudged.ts';
import { readWindow, writeWindow } from './enforcement-window.ts';

/** See `RateLimit` of the security feature. */
interface RateLimit {
  requests: number;
  burst: number;
  windowSec: number;
  bypass: readonly string[];
}

/** See `GuardSwitches` of the security feature. */
interface GuardSwitches {
  judgeAccess: boolean;
  judgeWaf: boolean;
  failMode: 'closed' | 'open';
}

export interface EnforcementDeps {
  config: Config;
  /** No other change may run during a reload. */
  driver: Pick<DataPlane, 'reload'>;
}

const asEntries = (networks: readonly string[]): [string, string][] =>
  [...new Set(networks.flatMap(mapKeys))].map((key) => [key, '1']);

/** Enforces the security suite on this machine: in HAProxy by its maps, in the guards by their configuration. */
export const createEnforcementPlane = ({ config, driver }: EnforcementDeps) => {
  const { dataDir } = config;
  const socket = createAdminSocket({ path: adminSocket(dataDir) });
  const map = (file: string, heading: string) => createEnforcementMap({ dataDir, socket, file, heading });
  const bans = createBans(map(dataPlaneFiles.decisionsMap, 'Banned networks, and the decision that bans each.'));
  const whitelist = map(dataPlaneFiles.whitelistMap, 'Networks of administrators: nothing stops them.');
  const bypass = map(dataPlaneFiles.bypassMap, 'Networks whose requests are not counted.');
  const limits = map(dataPlaneFiles.limitsMap, 'Requests that a client may make in the window.');
  const switches = map(
    dataPlaneFiles.switchesMap,
    'What guards are asked about, and whether requests pass without them.',
  );

  const put = async (target: typeof whitelist, entries: [string, string][]): Promise<Applied> => {
    // A full disk keeps the file from being written; what runs can protect all the same.
    const kept = await attempt(() => target.write(entries));
    return both(kept, await attempt(() => target.replace(entries)));
  };

  const changeWindow = async (windowSec: number): Promise<Applied> => {
    if (windowSec === readWindow(dataDir)) return APPLIED;
    await writeWindow(dataDir, windowSec);
    await writeStaticFiles(proxyDirectory(dataDir), toProxySettings(config));
    return attempt(() => driver.reload(() => reloadHaproxy(dataDir)));
  };

  return {
    applyDecisions: (change: BanChange): Promise<Applied> => bans.apply(change),

    applyWhitelist: (networks: readonly string[]): Promise<Applied> => put(whitelist, asEntries(networks)),

    async applyRateLimit(limit: RateLimit | null): Promise<Applied> {
      // The window first: a threshold for one hour must never act on a window of one second, or the other way round.
      const reloaded = limit ? await changeWindow(limit.windowSec) : APPLIED;
      if (!reloaded.applied) return reloaded;
      const bypassed = await put(bypass, asEntries(limit?.bypass ?? []));
      return both(bypassed, await put(limits, limit ? [['requests', String(limit.requests + limit.burst)]] : []));
    },

    applySwitches({ judgeAccess, judgeWaf, failMode }: GuardSwitches): Promise<Applied> {
      const judge = (judgeAccess ? routeFlags.accessList : 0) | (judgeWaf ? routeFlags.firewall : 0);
      return put(switches, [
        [switchKeys.judge, String(judge)],
        [switchKeys.failOpen, failMode === 'open' ? '1' : '0'],
      ]);
    },

    applyGuardConfig: ({ revision, access, waf }: GuardConfig): Promise<Applied> =>
      tellGuards(dataDir, revision, access.enabled || waf.enabled),

    judges: () => readJudges(socket),

    /** Requests that no guard has judged, since HAProxy started; undefined while it does not answer. */
    unjudged: () => readUnjudged(socket),

    stop: (): Promise<void> => bans.stop(),
  };
};
