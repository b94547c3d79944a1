import { type AccessList, type GuardConfig, type Ruleset, SECURITY_DEFAULTS } from '@sallyport/contract';
import type { GuardSwitches, RateLimit } from '@sallyport/enforcement/entries';
import type { Switches } from '@sallyport/store/security-switches';
import { setupOfHost } from '../../../dataplane/protection/waf-setup.ts';
import type { CoreRuleSet } from '../rulesets/core-rule-set.ts';
import type { Ban } from './bans.ts';
import { compileExclusions } from './exclusions.ts';
import { splitNetworks } from './network-list.ts';
import { ruleSources } from './rule-sources.ts';
import type { GuardedHost, StoredSecurityConfig } from './store.ts';

/** Everything the state is computed from, as read from the store. */
export interface SecurityFacts {
  config: StoredSecurityConfig | undefined;
  switches: Switches;
  /** An emergency reset waits to be stored, and all switches count as off. */
  resetPending: boolean;
  lists: readonly Omit<AccessList, 'warnings'>[];
  rulesets: readonly Ruleset[];
  hosts: readonly GuardedHost[];
  hostIds: ReadonlyMap<string, number>;
  /** Hosts whose origin is our own management API. */
  ownApi: readonly number[];
}

/** What HAProxy and the guards have to enforce, bans aside. Equal facts give equal states. */
export interface SecurityState {
  whitelist: readonly string[];
  rateLimit: RateLimit | null;
  switches: Omit<GuardSwitches, 'policy' | 'remembered'>;
  /** The guards' configuration but for its revision. */
  guard: Omit<GuardConfig, 'revision'>;
  bansEnforced: boolean;
  crowdsecEnforced: boolean;
  /** What can't be enforced as configured, in words. */
  issue: string | null;
  /** When it has to be computed anew, in milliseconds since the epoch. */
  nextExpiry: number | undefined;
}

/** Whether a ban is to be enforced in this state. */
export const isEnforced = (
  { bansEnforced, crowdsecEnforced }: Pick<SecurityState, 'bansEnforced' | 'crowdsecEnforced'>,
  { source }: Pick<Ban, 'source'>,
): boolean => bansEnforced && (source !== 'crowdsec' || crowdsecEnforced);

const NO_RULES =
  'the Core Rule Set is not installed (package modsecurity-crs): requests that it should judge are refused';

const RESET_PENDING = 'an emergency reset can not be stored yet: nothing is enforced until it is';

/**
 * What our own API takes as JSON is rules, templates, passwords and addresses: the very text that rules look for. It is checked
 * field by field there and run nowhere, so no rule looks at its values; path, query, headers and all other bodies are judged.
 */
const ofOwnApi = (host_id: number) => ({ target: 'ARGS:/^json/', host_id, path: '/api' });

/** Computes what to enforce. While the master switch is off that is nothing. */
export const computeState = (facts: SecurityFacts, core: CoreRuleSet | undefined, now: number): SecurityState => {
  const config = facts.config ?? { ...SECURITY_DEFAULTS, waf_exclusions: [], updated_at: '' };
  const { switches } = facts;
  const isOn = (module: keyof Switches) => switches.guard && switches[module];
  const whitelist = splitNetworks(config.admin_whitelist);
  const chosen = facts.rulesets.find(({ name }) => name === config.waf_rules_source);
  const exclusions = compileExclusions(config.waf_exclusions, facts.hostIds, now);
  const needsCore = isOn('waf') && chosen?.mode !== 'custom';
  return {
    whitelist,
    rateLimit: isOn('rate_limit')
      ? {
          requests: config.rate_limit_requests,
          burst: config.rate_limit_burst,
          windowSec: config.rate_limit_window_sec,
          bypass: splitNetworks(config.rate_limit_bypass_list),
        }
      : null,
    switches: { judgeAccess: isOn('acl'), judgeWaf: isOn('waf'), failMode: config.waf_fail_mode },
    guard: {
      access: {
        enabled: isOn('acl'),
        lists: facts.lists.map(({ uuid, created_at, updated_at, ...list }) => list),
      },
      waf: {
        enabled: isOn('waf'),
        mode: config.waf_mode,
        fail_mode: config.waf_fail_mode,
        rule_sources: ruleSources(config, chosen, core, exclusions.directives),
        exclusions: [...exclusions.perRequest, ...facts.ownApi.map(ofOwnApi)],
        body_limit: config.waf_body_limit,
      },
      admin_whitelist: whitelist,
      hosts: facts.hosts.map((host) => ({
        id: host.id,
        access_list_id: host.access_list_id,
        waf_enabled: host.waf_enabled,
        ...setupOfHost(host),
      })),
    },
    bansEnforced: switches.guard,
    crowdsecEnforced: isOn('crowdsec'),
    issue: facts.resetPending ? RESET_PENDING : needsCore && !core ? NO_RULES : null,
    nextExpiry: exclusions.nextExpiry,
  };
};
