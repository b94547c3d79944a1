import type { Executor } from '@sallyport/store/database/open';
import { accessListStore } from './access-lists/store.ts';
import { decisionStore } from './decisions/store.ts';
import { rulesetStore } from './rulesets/store.ts';
import type { EnforcementSource } from './suite/enforcement.ts';
import { securityStore } from './suite/store.ts';

export { type CoreRuleSet, findCoreRuleSet } from './rulesets/core-rule-set.ts';
export { foldBans } from './suite/bans.ts';
export type { EnforcementSource } from './suite/enforcement.ts';
export { createGuardConfigFile } from './suite/guard-config-file.ts';
export { computeState, isEnforced } from './suite/state.ts';

/** Wires the stores of the features to what enforcement reads. `isOwnApi` tells whether an origin is our own management API. */
export const createSecuritySource = (
  db: Executor,
  isOwnApi: (host: string, port: number) => boolean,
): EnforcementSource => {
  const security = securityStore(db);
  const decisions = decisionStore(db);
  return {
    async facts() {
      const config = await security.config();
      const uuids = (config?.waf_exclusions ?? []).flatMap(({ host_uuid }) => host_uuid ?? []);
      const hosts = await security.guardedHosts();
      return {
        config,
        switches: await security.switches(),
        lists: await accessListStore(db).all(),
        rulesets: await rulesetStore(db).list(),
        hosts,
        ownApi: hosts
          .filter((host) => host.forward_reserved && isOwnApi(host.forward_host, host.forward_port))
          .map(({ id }) => id),
        hostIds: await security.hostIds([...new Set(uuids)]),
      };
    },
    revision: security.revision,
    switches: security.switches,
    decisionVersion: decisions.version,
    liveDecisions: decisions.allLive,
    liveDecisionsFor: decisions.liveFor,
    deleteExpiredDecisions: decisions.deleteExpired,
    hasSpecialHost: security.hasSpecialHost,
  };
};
