import { createNetworkSet, parseNetwork } from '@sallyport/access';
import {
  SECURITY_DEFAULTS,
  type SecurityConfig,
  type SecurityConfigAnswer,
  type SecurityConfigPatch,
  type SecurityStatus,
  type WafExclusion,
} from '@sallyport/contract';
import type { Actor, RecordChange } from '../../actor.ts';
import type { Executor, Transact } from '../../db/open.ts';
import { refuse } from '../../errors.ts';
import { generateToken, hashToken, isToken } from './break-glass.ts';
import { normaliseExclusions } from './exclusions.ts';
import { normaliseNetworks, splitNetworks } from './network-list.ts';
import type { SecurityStore, StoredSecurityConfig } from './store.ts';

export interface SecurityDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => SecurityStore;
  /** Names of the rulesets that `waf_rules_source` can choose. */
  rulesetNames: (executor: Executor) => Promise<readonly string[]>;
  /** Resolves when `url` may be called from here, else throws a `Refusal` that says why not. */
  checkWebhookUrl: (url: string) => Promise<void>;
  /** Throws a `Refusal` when a target of an exclusion is none the engine knows. */
  checkTargets: (targets: readonly string[]) => void;
  enforcement: {
    refresh(): Promise<void>;
    status(): { applied: boolean; issue: string | null; revision: number };
    withoutJudge(): Promise<string | null>;
  };
  record: RecordChange;
  clock: () => Date;
}

/** The built-in value of `waf_rules_source`. */
const CORE_SOURCE = 'owasp';

const defaults = (): StoredSecurityConfig => ({ ...SECURITY_DEFAULTS, waf_exclusions: [], updated_at: '' });

const normalise = (input: SecurityConfigPatch): SecurityConfigPatch => {
  const patch = { ...input };
  if (input.name !== undefined) {
    patch.name = input.name.trim();
    if (patch.name === '') throw refuse.invalid('name is required');
  }
  for (const field of ['admin_whitelist', 'rate_limit_bypass_list'] as const) {
    const text = input[field];
    if (text !== undefined) patch[field] = normaliseNetworks(text, field);
  }
  if (input.waf_exclusions) patch.waf_exclusions = normaliseExclusions(input.waf_exclusions);
  if (input.waf_rules_source !== undefined) patch.waf_rules_source = input.waf_rules_source.trim() || CORE_SOURCE;
  if (input.webhook_url !== undefined) patch.webhook_url = input.webhook_url.trim();
  return patch;
};

const MAX_EXCLUSIONS = 1_000;

const isSameExclusion = (a: WafExclusion, b: WafExclusion): boolean =>
  a.rule_id === b.rule_id &&
  a.target === b.target &&
  a.host_uuid === b.host_uuid &&
  a.path === b.path &&
  a.expires_at === b.expires_at;

const isListed = (whitelist: string, address: string): boolean =>
  createNetworkSet(splitNetworks(whitelist).map(parseNetwork)).has(address);

export const createSecurity = (deps: SecurityDeps) => {
  const { db, transact, store, rulesetNames, checkWebhookUrl, checkTargets, enforcement, record, clock } = deps;

  const toWire = (config: StoredSecurityConfig, enabled: boolean): SecurityConfig => ({ ...config, enabled });

  /** On this very host one can always switch the suite off; from elsewhere only the whitelist keeps the door open. */
  const isSafeFromLockOut = (actor: Actor, whitelist: string): boolean =>
    actor.isLocal || isListed(whitelist, actor.ip);

  const useToken = async (tx: Executor, token: string | undefined): Promise<boolean> => {
    const hash = await store(tx).tokenHash();
    return token !== undefined && hash !== undefined && isToken(token, hash);
  };

  const switchMaster = async (tx: Executor, enabled: boolean, actor: Actor): Promise<void> => {
    const before = (await store(tx).switches()).guard;
    await store(tx).setMaster(enabled);
    const action = enabled ? 'security.enable' : 'security.disable';
    await record(tx, { action, actor, resource: 'security', before: { enabled: before }, after: { enabled } });
  };

  const warningFor = (config: StoredSecurityConfig, names: readonly string[]): string | undefined =>
    config.waf_rules_source === CORE_SOURCE || names.includes(config.waf_rules_source)
      ? undefined
      : `no ruleset is named "${config.waf_rules_source}"; the installed Core Rule Set is used until there is one`;

  return {
    async status(): Promise<SecurityStatus> {
      const config = (await store(db).config()) ?? defaults();
      const { guard, waf, crowdsec, acl, rate_limit } = await store(db).switches();
      const mode = (enabled: boolean) => (enabled ? 'enabled' : 'disabled');
      const missing = await enforcement.withoutJudge();
      const told = enforcement.status();
      return {
        enabled: guard,
        guard: { enabled: guard },
        waf: { enabled: waf, mode: config.waf_mode },
        crowdsec: { enabled: crowdsec, mode: config.crowdsec_mode },
        acl: { enabled: acl, mode: mode(acl) },
        rate_limit: { enabled: rate_limit, mode: mode(rate_limit) },
        ...told,
        applied: told.applied && missing === null,
        issue: [missing, told.issue].filter((text) => text !== null).join('; ') || null,
      };
    },

    async config(): Promise<SecurityConfigAnswer> {
      const config = await store(db).config();
      if (!config) return { config: null };
      return { config: toWire(config, (await store(db).switches()).guard) };
    },

    /** Changes the fields that are given; answers when the change is enforced, or when it is known why it is not. */
    async configure(input: SecurityConfigPatch, actor: Actor): Promise<SecurityConfigAnswer> {
      const { enabled, ...patch } = normalise(input);
      if (patch.webhook_url) await checkWebhookUrl(patch.webhook_url);
      checkTargets((patch.waf_exclusions ?? []).flatMap(({ target }) => target ?? []));
      const answer = await transact(async (tx): Promise<SecurityConfigAnswer> => {
        const before = await store(tx).config();
        const after = { ...defaults(), ...before, ...patch, updated_at: clock().toISOString() } as StoredSecurityConfig;
        await store(tx).setConfig(after);
        await record(tx, { action: 'security.configure', actor, resource: 'security/config', before, after });
        const wasEnabled = (await store(tx).switches()).guard;
        if (enabled === true && !wasEnabled && !isSafeFromLockOut(actor, after.admin_whitelist)) {
          throw refuse.invalid('enabled would lock you out: put your address into admin_whitelist first');
        }
        if (enabled !== undefined && enabled !== wasEnabled) await switchMaster(tx, enabled, actor);
        const warning = warningFor(after, await rulesetNames(tx));
        return { config: toWire(after, enabled ?? wasEnabled), ...(warning === undefined ? {} : { warning }) };
      });
      await enforcement.refresh();
      return answer;
    },

    /** Adds one exclusion to those there are; one that is there already is left as it is. */
    async exclude(input: WafExclusion, actor: Actor): Promise<SecurityConfigAnswer> {
      const [exclusion] = normaliseExclusions([input]) as [WafExclusion];
      checkTargets(exclusion.target === undefined ? [] : [exclusion.target]);
      const answer = await transact(async (tx): Promise<SecurityConfigAnswer> => {
        const before = (await store(tx).config()) ?? defaults();
        const enabled = (await store(tx).switches()).guard;
        if (before.waf_exclusions.some((known) => isSameExclusion(known, exclusion))) {
          return { config: toWire(before, enabled) };
        }
        if (before.waf_exclusions.length >= MAX_EXCLUSIONS) {
          throw refuse.conflict(`waf_exclusions already has ${MAX_EXCLUSIONS} entries`);
        }
        const waf_exclusions = [...before.waf_exclusions, exclusion];
        const after = { ...before, waf_exclusions, updated_at: clock().toISOString() };
        await store(tx).setConfig(after);
        await record(tx, { action: 'security.exclude', actor, resource: 'security/exclusions', after: exclusion });
        return { config: toWire(after, enabled) };
      });
      await enforcement.refresh();
      return answer;
    },

    /**
     * Switches the suite on. Refused when nothing would let the caller back in: it takes a token that is in force (it
     * stays so, to get out again) or an `admin_whitelist` that holds the caller, or any when the caller is local.
     */
    async enable(token: string | undefined, actor: Actor): Promise<void> {
      await transact(async (tx) => {
        const whitelist = (await store(tx).config())?.admin_whitelist ?? '';
        const isProtected = whitelist !== '' && isSafeFromLockOut(actor, whitelist);
        if (!isProtected && !(await useToken(tx, token))) {
          throw refuse.invalid(
            'enabling could lock you out: put your address into admin_whitelist or send a valid break_glass_token',
          );
        }
        await switchMaster(tx, true, actor);
      });
      await enforcement.refresh();
    },

    /** Switches the suite off. From anywhere but this host it takes a break-glass token, which is used up. */
    async disable(token: string | undefined, actor: Actor): Promise<void> {
      const isAllowed = await transact(async (tx) => {
        const isValid = await useToken(tx, token);
        if (!isValid && !actor.isLocal) {
          const after = { reason: token === undefined ? 'no token' : 'wrong token' };
          await record(tx, { action: 'security.disable_refused', actor, resource: 'security', after });
          return false;
        }
        if (isValid) await store(tx).deleteToken();
        await switchMaster(tx, false, actor);
        return true;
      });
      if (!isAllowed) throw refuse.unauthorized('A valid break_glass_token is required');
      await enforcement.refresh();
    },

    /** Makes a new token and voids the one before. The plain text exists only in the answer. */
    async generateToken(actor: Actor): Promise<string> {
      const token = generateToken();
      await transact(async (tx) => {
        await store(tx).setToken(hashToken(token), clock().toISOString());
        await record(tx, { action: 'security.breakglass_generate', actor, resource: 'security/breakglass' });
      });
      return token;
    },
  };
};
export type Security = ReturnType<typeof createSecurity>;
