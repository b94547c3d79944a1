import {
  SECURITY_DEFAULTS,
  type SecurityConfig,
  type SecurityConfigAnswer,
  type SecurityConfigPatch,
  type SecurityStatus,
  type WafExclusion,
} from '@sallyport/contract';
import { refuseApiToken } from '@sallyport/store/accounts/session-only';
import type { Actor, ChangeEntry, RecordChange } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { anyVersion } from '@sallyport/store/object-version';
import { normaliseSetup } from '../../../dataplane/protection/waf-setup.ts';
import type { OpenAttempt } from '../../accounts/index.ts';
import { generateToken, hashToken } from './break-glass.ts';
import { normaliseExclusions } from './exclusions.ts';
import type { LockOutRules } from './lock-out.ts';
import { normaliseNetworks } from './network-list.ts';
import { MASTER_SWITCH, type SecurityStore, type StoredSecurityConfig } from './store.ts';

export interface SecurityDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => SecurityStore;
  /** Names of the rulesets that `waf_rules_source` can choose. */
  rulesetNames: (executor: Executor) => Promise<readonly string[]>;
  /** Resolves when `url` may be called from here, else throws a `Refusal` that says why not. */
  checkWebhookUrl: (url: string) => Promise<void>;
  /** Throws a `Refusal` when a target of an exclusion is none the engine knows. */
  checkTargets: (targets: readonly string[]) => Promise<void>;
  enforcement: {
    refresh(): Promise<void>;
    status(): { applied: boolean; issue: string | null; revision: number };
    judging(): Promise<{ isJudged: boolean; issue: string | null }>;
  };
  /** Whether the CrowdSec process lives: what is switched on must not pass for enforced. */
  isCrowdsecRunning: () => boolean;
  lockOut: LockOutRules;
  /** Counts wrong break-glass tokens like failed sign-ins; throws a 429. */
  beginSecretAttempt: (resource: string, actor: Actor) => Promise<OpenAttempt>;
  noteFailure: (entry: ChangeEntry) => Promise<void>;
  record: RecordChange;
  clock: () => Date;
}

/** The built-in value of `waf_rules_source`. */
const CORE_SOURCE = 'owasp';

const CROWDSEC_ABSENT =
  'CrowdSec is switched on but does not run here: it finds nothing new (GET /admin/crowdsec/status tells why, POST /admin/crowdsec/start starts it)';

const defaults = (): StoredSecurityConfig => ({ ...SECURITY_DEFAULTS, waf_exclusions: [], updated_at: '' });

const normalise = (input: SecurityConfigPatch): SecurityConfigPatch => {
  const patch = normaliseSetup({ ...input });
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

const TOKEN = 'security/breakglass';
const CONFIG = 'security/config';

export const createSecurity = (deps: SecurityDeps) => {
  const { db, transact, store, rulesetNames, checkWebhookUrl, checkTargets, enforcement, record, clock } = deps;
  const { isCrowdsecRunning, lockOut, beginSecretAttempt, noteFailure } = deps;

  const toWire = (config: StoredSecurityConfig, enabled: boolean): SecurityConfig => ({ ...config, enabled });

  /** Whether a token is the one in force. Wrong ones count, and are refused untried (429) when they were too many. */
  const tryToken = async (given: string | undefined, actor: Actor): Promise<boolean> => {
    const token = given?.trim();
    if (!token) return false;
    const attempt = await beginSecretAttempt(TOKEN, actor);
    const isValid = await lockOut.isValidToken(db, token).catch((error: unknown) => {
      attempt.withdraw();
      throw error;
    });
    if (isValid) attempt.succeeded();
    return isValid;
  };

  const switchMaster = async (tx: Executor, enabled: boolean, actor: Actor): Promise<void> => {
    const before = (await store(tx).switches()).guard;
    await store(tx).setMaster(enabled);
    const action = enabled ? 'security.enable' : 'security.disable';
    await record(tx, {
      action,
      actor,
      resource: 'security',
      before: { enabled: before },
      after: { enabled },
      history: [
        { resource: `settings/${MASTER_SWITCH}`, before: { value: String(before) }, after: { value: String(enabled) } },
      ],
    });
  };

  /** Normalised, after what takes time to check. */
  const checked = async (input: SecurityConfigPatch): Promise<SecurityConfigPatch> => {
    const patch = normalise(input);
    if (patch.webhook_url) await checkWebhookUrl(patch.webhook_url);
    await checkTargets((patch.waf_exclusions ?? []).flatMap(({ target }) => target ?? []));
    return patch;
  };

  const setIn = async (
    tx: Executor,
    before: StoredSecurityConfig | undefined,
    patch: Omit<SecurityConfigPatch, 'enabled'>,
    actor: Actor,
  ): Promise<StoredSecurityConfig> => {
    const after = { ...defaults(), ...before, ...patch, updated_at: clock().toISOString() } as StoredSecurityConfig;
    await store(tx).setConfig(after);
    const history = [{ resource: CONFIG, before: before ?? defaults(), after }];
    await record(tx, { action: 'security.configure', actor, resource: CONFIG, before, after, history });
    return after;
  };

  const warningFor = (config: StoredSecurityConfig, enabled: boolean, names: readonly string[]): string | undefined => {
    const warnings: string[] = [];
    if (config.crowdsec_mode === 'local' && !isCrowdsecRunning()) {
      warnings.push(
        'crowdsec_mode is local, but CrowdSec does not run here yet (GET /admin/crowdsec/status tells more)',
      );
    }
    if (config.waf_rules_source !== CORE_SOURCE && !names.includes(config.waf_rules_source)) {
      warnings.push(
        `no ruleset is named "${config.waf_rules_source}"; the installed Core Rule Set is used until there is one`,
      );
    }
    if (enabled && config.admin_whitelist === '') {
      warnings.push(
        'admin_whitelist is empty while the suite is on: nothing keeps a ban, a limit or a rule from locking you out',
      );
    }
    return warnings.join('; ') || undefined;
  };

  return {
    /** The same change in a transaction of the caller, of what `check` let pass, after which enforcement has to follow. */
    within: {
      check: async (fields: SecurityConfigPatch): Promise<void> => void (await checked(fields)),
      current: async (tx: Executor): Promise<StoredSecurityConfig> => (await store(tx).config()) ?? defaults(),
      update: async (tx: Executor, fields: Omit<SecurityConfigPatch, 'enabled'>, actor: Actor) =>
        setIn(tx, await store(tx).config(), normalise(fields), actor),
    },

    async status(): Promise<SecurityStatus> {
      const config = (await store(db).config()) ?? defaults();
      const { guard, waf, crowdsec, acl, rate_limit } = await store(db).switches();
      const mode = (enabled: boolean) => (enabled ? 'enabled' : 'disabled');
      const judging = await enforcement.judging();
      const told = enforcement.status();
      const isWanted = guard && crowdsec && config.crowdsec_mode === 'local';
      const absent = isWanted && !isCrowdsecRunning() ? CROWDSEC_ABSENT : null;
      return {
        enabled: guard,
        guard: { enabled: guard },
        waf: { enabled: waf, mode: config.waf_mode },
        crowdsec: { enabled: crowdsec, mode: config.crowdsec_mode, running: isCrowdsecRunning() },
        acl: { enabled: acl, mode: mode(acl) },
        rate_limit: { enabled: rate_limit, mode: mode(rate_limit) },
        ...told,
        applied: told.applied && judging.isJudged && absent === null,
        issue: [judging.issue, absent, told.issue].filter((text) => text !== null).join('; ') || null,
      };
    },

    async config(): Promise<SecurityConfigAnswer> {
      const config = await store(db).config();
      if (!config) return { config: null };
      return { config: toWire(config, (await store(db).switches()).guard) };
    },

    /** Changes the fields that are given; answers when the change is enforced, or when it is known why it is not. */
    async configure(
      input: SecurityConfigPatch,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<SecurityConfigAnswer> {
      const { enabled, ...patch } = await checked(input);
      const answer = await transact(async (tx): Promise<SecurityConfigAnswer> => {
        const before = await store(tx).config();
        checkVersion(before ? toWire(before, (await store(tx).switches()).guard) : {});
        const after = await setIn(tx, before, patch, actor);
        const wasEnabled = (await store(tx).switches()).guard;
        if (enabled !== undefined && enabled !== wasEnabled) {
          if (enabled) await lockOut.checkTurnOn(tx, actor, after.admin_whitelist);
          else lockOut.checkTurnOff(actor);
          await switchMaster(tx, enabled, actor);
        }
        const warning = warningFor(after, enabled ?? wasEnabled, await rulesetNames(tx));
        return { config: toWire(after, enabled ?? wasEnabled), ...(warning === undefined ? {} : { warning }) };
      });
      await enforcement.refresh();
      return answer;
    },

    /** Adds one exclusion to those there are; one that is there already is left as it is. */
    async exclude(input: WafExclusion, actor: Actor): Promise<SecurityConfigAnswer> {
      const [exclusion] = normaliseExclusions([input]) as [WafExclusion];
      await checkTargets(exclusion.target === undefined ? [] : [exclusion.target]);
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
        await record(tx, {
          action: 'security.exclude',
          actor,
          resource: 'security/exclusions',
          after: exclusion,
          history: [{ resource: CONFIG, before, after }],
        });
        return { config: toWire(after, enabled) };
      });
      await enforcement.refresh();
      return answer;
    },

    /**
     * Switches the suite on. Throws a 400 when nothing would let the caller back in (see `LockOutRules`); a token stays in
     * force, to get out again.
     */
    async enable(token: string | undefined, actor: Actor): Promise<void> {
      const isValid = await tryToken(token, actor);
      await transact(async (tx) => {
        const whitelist = (await store(tx).config())?.admin_whitelist ?? '';
        await lockOut.checkTurnOn(tx, actor, whitelist, isValid ? token : undefined);
        await switchMaster(tx, true, actor);
      });
      await enforcement.refresh();
    },

    /**
     * Switches the suite off. Who has a valid break-glass token needs nothing else, from wherever; it is used up.
     * `isTrustedHere`: the caller is on this host and may do it without. Throws a 401, or a 429 after too many wrong tokens.
     */
    async disable(token: string | undefined, isTrustedHere: boolean, actor: Actor): Promise<void> {
      const wasValid = await tryToken(token, actor);
      const isDone =
        (wasValid || isTrustedHere) &&
        (await transact(async (tx) => {
          // Read again: of two that come with the same token only one uses it up.
          const isValid = wasValid && (await lockOut.isValidToken(tx, token));
          if (!isValid && !isTrustedHere) return false;
          if (isValid) await store(tx).deleteToken();
          await switchMaster(tx, false, actor);
          return true;
        }));
      if (!isDone) {
        const after = { reason: token ? 'wrong token' : 'no token' };
        await noteFailure({ action: 'security.disable_refused', actor, resource: 'security', after });
        throw refuse.unauthorized('A valid break_glass_token is required');
      }
      await enforcement.refresh();
    },

    /** Makes a new token and voids the one before. The plain text exists only in the answer. */
    async generateToken(actor: Actor): Promise<string> {
      refuseApiToken(actor);
      const token = generateToken();
      await transact(async (tx) => {
        await store(tx).setToken(hashToken(token), clock().toISOString());
        await record(tx, { action: 'security.breakglass_generate', actor, resource: TOKEN });
      });
      return token;
    },
  };
};
export type Security = ReturnType<typeof createSecurity>;
