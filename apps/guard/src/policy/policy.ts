import type { CountryLookup } from '@sallyport/access';
import type { GuardConfig } from '@sallyport/contract';
import type { RuleSet, Verdict, WafRequest, WafTransaction } from '@sallyport/waf';
import { type Access, compileAccess, compileWhitelist } from './access.ts';
import { compileExclusions, type FindExclusions } from './exclusions.ts';
import { compileSetup } from './setup.ts';

/** Everything one revision decides by; immutable, and swapped as a whole. */
export interface Policy {
  revision: number;
  judgeAccess: Access['judge'];
  knowsAccess: Access['knows'];
  isWhitelisted(client: string): boolean;
  /** Whether there is a firewall, and whether access lists are enforced. */
  hasFirewall: boolean;
  enforcesLists: boolean;
  /** Whether the firewall inspects this host's requests. */
  inspects(hostId: number): boolean;
  inspect(hostId: number, request: WafRequest): Verdict;
  /** For a request whose answer is inspected as well. */
  begin(hostId: number, request: WafRequest): WafTransaction;
  /** Longest request body of a host, bytes. */
  bodyLimit(hostId: number): number;
  exclusions: FindExclusions;
  failMode: 'closed' | 'open';
}

export interface PolicyDeps {
  /** null where nothing is inspected: asking for it then fails, and is a refusal. */
  ruleSet: RuleSet | null;
  country: CountryLookup | undefined;
}

/** Prepares a configuration. Throws when any part of it can't be enforced: nothing is ever skipped. */
export const createPolicy = (config: GuardConfig, { ruleSet, country }: PolicyDeps): Policy => {
  const { waf } = config;
  const withoutFirewall = new Set(config.hosts.filter(({ waf_enabled }) => !waf_enabled).map(({ id }) => id));
  const rules = (): RuleSet => {
    if (!ruleSet) throw new Error('there are no rules to inspect by');
    return ruleSet;
  };
  const setup = compileSetup(config);
  const access = compileAccess(config, country);
  return {
    revision: config.revision,
    judgeAccess: access.judge,
    knowsAccess: access.knows,
    hasFirewall: waf.enabled,
    enforcesLists: config.access.enabled,
    isWhitelisted: compileWhitelist(config.admin_whitelist),
    inspects: (hostId) => waf.enabled && !withoutFirewall.has(hostId),
    inspect: (hostId, request) => {
      const { settings, limits } = setup(hostId);
      return rules().inspect(settings ? { ...request, settings } : request, limits);
    },
    begin: (hostId, request) => {
      const { settings, limits } = setup(hostId);
      return rules().begin(settings ? { ...request, settings } : request, limits);
    },
    bodyLimit: (hostId) => setup(hostId).limits.maxBodyBytes,
    exclusions: compileExclusions(waf.exclusions),
    failMode: waf.fail_mode,
  };
};
