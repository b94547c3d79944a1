import type { Executor } from '@sallyport/store/database/open';
import type { Switches } from '@sallyport/store/security-switches';
import { accessListStore } from './access-lists/store.ts';
import { decisionStore } from './decisions/store.ts';
import { rulesetStore } from './rulesets/store.ts';
import type { EnforcementSource } from './suite/enforcement.ts';
import { securityStore } from './suite/store.ts';

export { checkStoredProtection } from './check-stored.ts';
export { type CoreRuleSet, findCoreRuleSet } from './rulesets/core-rule-set.ts';
export { foldBans } from './suite/bans.ts';
export type { EnforcementSource } from './suite/enforcement.ts';
export { createGuardConfigFile } from './suite/guard-config-file.ts';
export { computeState, isEnforced } from './suite/state.ts';

/** The same source, which tells `notice` of what it read before anybody enforces it. */
export const noticing = (source: EnforcementSource, notice: () => Promise<void>): EnforcementSource => {
  const after = async <T>(read: Promise<T>): Promise<T> => {
    const found = await read;
    await notice();
    return found;
  };
  return {
    ...source,
    facts: () => after(source.facts()),
    liveDecisions: (now) => after(source.liveDecisions(now)),
    liveDecisionsFor: (networks, now) => after(source.liveDecisionsFor(networks, now)),
  };
};

const ALL_OFF: Switches = { guard: false, acl: false, waf: false, rate_limit: false, crowdsec: false };

export interface SecuritySourceDeps {
  db: Executor;
  /** Whether an origin is our own management API. */
  isOwnApi: (host: string, port: number) => boolean;
  /** Whether an emergency reset waits to be stored: until then it counts, not what is stored. */
  isResetPending: () => boolean;
}

/** Wires the stores of the features to what enforcement reads. */
export const createSecuritySource = ({ db, isOwnApi, isResetPending }: SecuritySourceDeps): EnforcementSource => {
  const security = securityStore(db);
  const decisions = decisionStore(db);
  return {
    async facts() {
      const resetPending = isResetPending();
      const config = await security.config();
      const uuids = (config?.waf_exclusions ?? []).flatMap(({ host_uuid }) => host_uuid ?? []);
      const hosts = await security.guardedHosts();
      return {
        config,
        switches: resetPending ? ALL_OFF : await security.switches(),
        resetPending,
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
    switches: async () => (isResetPending() ? ALL_OFF : security.switches()),
    decisionVersion: decisions.version,
    liveDecisions: decisions.allLive,
    liveDecisionsFor: decisions.liveFor,
    deleteExpiredDecisions: decisions.deleteExpired,
    hasSpecialHost: security.hasSpecialHost,
  };
};
