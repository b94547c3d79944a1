import { hostname } from 'node:os';
import { checkCountryDatabase, findCountryDatabase } from '@sallyport/access/country-database';
import type { SettingKey } from '@sallyport/contract';
import { pendingResets } from '@sallyport/recovery/pending';
import type { Actor } from '@sallyport/store/actor';
import { alwaysAlone, createAlone } from '@sallyport/store/database/alone';
import type { Executor } from '@sallyport/store/database/open';
import type { EnforcementPlane } from '../../dataplane/protection/port.ts';
import type { App } from '../../http/app-type.ts';
import type { CheckDestination } from '../../net/check-destination.ts';
import type { SafeFetch } from '../../net/safe-fetch.ts';
import type { Accounts } from '../accounts/index.ts';
import type { DeclaredKinds } from '../declared.ts';
import type { Ground } from '../ground.ts';
import type { Reverters } from '../reverter.ts';
import type { System } from '../system/index.ts';
import { createAccessListReverter } from './access-lists/reverter.ts';
import { accessListRoutes } from './access-lists/routes.ts';
import { createAccessLists } from './access-lists/service.ts';
import { accessListStore } from './access-lists/store.ts';
import { CONSOLE } from './crowdsec/console/api.ts';
import { consoleRoutes } from './crowdsec/console/routes.ts';
import { presetRoutes } from './crowdsec/presets/routes.ts';
import { type CrowdsecProgram, DEBIAN } from './crowdsec/program.ts';
import { crowdsecRoutes } from './crowdsec/routes.ts';
import { createCrowdsec } from './crowdsec/service.ts';
import { createDecisionReverter } from './decisions/reverter.ts';
import { decisionRoutes } from './decisions/routes.ts';
import { createDecisions } from './decisions/service.ts';
import { decisionStore } from './decisions/store.ts';
import { registerSecurityMetrics } from './metrics.ts';
import { declareNotifications } from './notifications/declared.ts';
import { onBehalfOfCallers } from './on-behalf-of-callers.ts';
import { createRuleCheck } from './rulesets/check-rules.ts';
import { findCoreRuleSet } from './rulesets/core-rule-set.ts';
import { createRulesetReverter } from './rulesets/reverter.ts';
import { rulesetRoutes } from './rulesets/routes.ts';
import { createRulesets } from './rulesets/service.ts';
import { rulesetStore } from './rulesets/store.ts';
import { createSecuritySource, noticing } from './stored.ts';
import { createTargetCheck } from './suite/check-targets.ts';
import { createEnforcement, type EnforcementDeps } from './suite/enforcement.ts';
import { createGuardConfigFile } from './suite/guard-config-file.ts';
import { createLockOutRules } from './suite/lock-out.ts';
import { splitNetworks } from './suite/network-list.ts';
import { createSecurityReverter } from './suite/reverter.ts';
import { securityRoutes } from './suite/routes.ts';
import { createSecurity } from './suite/service.ts';
import { MASTER_SWITCH, securityStore } from './suite/store.ts';
import { createTelling } from './telling.ts';

export interface ProtectionDeps {
  /** Where it is enforced. */
  plane: EnforcementPlane;
  /** Closes hosts that are about to move; see `createPlane`. */
  closeMoving: EnforcementDeps['closeMoving'];
  /** What HAProxy still holds of its log. */
  heldLines: () => Promise<readonly string[]>;
  /** Whether an origin is our own management API. */
  isOwnApi: (host: string, port: number) => boolean;
  /** Where CrowdSec's local API listens. */
  crowdsecPort: number;
  /** Where CrowdSec is enrolled: base URL (undefined: that of its makers), and what asks there. */
  crowdsecConsole: { url: string | undefined; fetch: SafeFetch };
  /** Of the deployment; see `Config`. */
  crowdsecMode: 'local' | 'disabled' | undefined;
  /** Its programs; undefined: those of Debian's package. */
  crowdsecProgram: CrowdsecProgram | undefined;
  /** Of the PostgreSQL that several nodes may share; undefined: the store is this node's. */
  databaseUrl: string | undefined;
  /** To be told of what was read of the store, before it is enforced (see `createRestoredState`). */
  noticeRestore: () => Promise<void>;
  fetch: SafeFetch;
  checkDestination: CheckDestination;
  system: Pick<System, 'settings' | 'mailer' | 'metrics'>;
  /** Count and record wrong break-glass tokens. */
  accounts: Pick<Accounts, 'beginSecretAttempt' | 'noteFailure'>;
}

/** Tells the lock of the one node that runs CrowdSec apart. */
const CROWDSEC_LOCK = 1;
/** How long an answer waits for guards that compile rules; `GET /security/status` tells when it took longer. */
const ENFORCED_WITHIN_MS = 10_000;

/** Wires the security suite: what is stored, what is enforced, and what it tells. Call `start` once. */
export const createProtection = (ground: Ground, deps: ProtectionDeps) => {
  const { dataDir, database, vault, record, clock, log } = ground;
  const { plane, isOwnApi, fetch, checkDestination, accounts } = deps;
  const { kysely: db, transact } = database;
  const countryDatabase = findCountryDatabase(dataDir);
  const country = countryDatabase === undefined ? undefined : checkCountryDatabase(countryDatabase);

  const enforcement = createEnforcement({
    source: noticing(
      createSecuritySource({ db, isOwnApi, isResetPending: () => pendingResets(dataDir).length > 0 }),
      deps.noticeRestore,
    ),
    plane,
    guardFile: createGuardConfigFile(dataDir),
    closeMoving: deps.closeMoving,
    core: findCoreRuleSet,
    clock,
    log,
  });

  const { checkWebhookUrl, fetchText } = onBehalfOfCallers(fetch, checkDestination);
  const common = { db, transact, record, clock };
  const changed = enforcement.refresh;
  const { inForce } = enforcement;
  const whitelist = async (executor: Executor) =>
    splitNetworks((await securityStore(executor).config())?.admin_whitelist ?? '');

  const lockOut = createLockOutRules(securityStore);

  const telling = createTelling(ground, {
    system: deps.system,
    fetch,
    checkWebhookUrl,
    heldLines: deps.heldLines,
    country,
  });
  registerSecurityMetrics(deps.system.metrics.registry, {
    bans: enforcement.banCount,
    enforcement: enforcement.status,
    ...telling.counted,
  });

  const decisions = createDecisions({ ...common, store: decisionStore, whitelist, plane: enforcement, inForce });
  const crowdsec = createCrowdsec({
    dataDir,
    port: deps.crowdsecPort,
    program: deps.crowdsecProgram ?? DEBIAN,
    console: { ...deps.crowdsecConsole, url: deps.crowdsecConsole.url ?? CONSOLE },
    vault,
    decisions,
    async isWanted() {
      const [config, switches] = [await securityStore(db).config(), await securityStore(db).switches()];
      return (config?.crowdsec_mode ?? deps.crowdsecMode) === 'local' || switches.crowdsec;
    },
    whitelist: () => whitelist(db),
    alone: (onLost) =>
      deps.databaseUrl === undefined
        ? alwaysAlone
        : createAlone(deps.databaseUrl, CROWDSEC_LOCK, `${hostname()} (${dataDir})`, onLost),
    publish: telling.publish,
    tellTraffic: enforcement.tellTraffic,
    isTrafficTold: enforcement.isTrafficTold,
    db,
    transact,
    record,
    clock,
    log,
  });
  if (deps.crowdsecMode !== undefined) {
    log.warn(
      'SALLYPORT_CROWDSEC_MODE is deprecated and will be removed: set crowdsec_mode by POST /security/config, or start it by POST /admin/crowdsec/start',
    );
  }
  const security = createSecurity({
    ...common,
    store: securityStore,
    rulesetNames: async (executor) => (await rulesetStore(executor).list()).map(({ name }) => name),
    checkWebhookUrl,
    checkTargets: createTargetCheck(async () => (await import('@sallyport/waf')).compile),
    enforcement,
    isCrowdsecRunning: crowdsec.isRunning,
    lockOut,
    beginSecretAttempt: accounts.beginSecretAttempt,
    noteFailure: accounts.noteFailure,
  });
  const rulesets = createRulesets({
    ...common,
    store: rulesetStore,
    rules: createRuleCheck(findCoreRuleSet, () => securityStore(db).largestBodyLimit()),
    fetchText,
    changed,
  });
  const accessLists = createAccessLists({ ...common, store: accessListStore, country, inForce, changed });
  /** Resolves when `followed` does, or after a time in which it should have; never rejects. */
  const inTime = async (followed: Promise<void>, what: object): Promise<void> => {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ENFORCED_WITHIN_MS);
    await Promise.race([
      followed.catch((err: unknown) => log.error({ err, ...what }, 'a change could not be followed')),
      late,
    ]);
    clearTimeout(timer);
  };

  const reverters = {
    'access-lists': createAccessListReverter(accessLists, changed),
    'security/decisions': createDecisionReverter({
      decisions,
      decisionsChanged: enforcement.decisionsChanged,
      clock,
    }),
    'security/rulesets': createRulesetReverter(rulesets, changed),
    'security/config': createSecurityReverter({ security, changed }),
  } satisfies Reverters;

  return {
    reverters,

    /** What can be configured as code. */
    declared: {
      'access-lists': { ...reverters['access-lists'], all: (tx) => accessListStore(tx).all() },
      'security/rulesets': {
        ...reverters['security/rulesets'],
        all: (tx) => rulesetStore(tx).list(),
        // The rules are checked by that.
        prepare: async () => {},
        complete: rulesets.within.complete,
      },
      'security/config': {
        ...reverters['security/config'],
        all: async (tx) => [await security.within.current(tx)],
      },
      'security/notifications/settings': declareNotifications(telling.notifications),
    } satisfies Omit<DeclaredKinds, 'proxy-hosts' | 'remote-servers' | 'settings'>,

    inForce,
    /** For access lists that come with hosts from elsewhere. */
    isJudged: accessLists.isJudged,
    bringInLists: accessLists.within.bringIn,
    /** See `createEnforcement`. */
    hostsChanged: enforcement.hostsChanged,
    listedHosts: enforcement.listedHosts,
    /** Everything is told again: HAProxy or the guards lost what they knew. */
    replay: enforcement.replay,
    refusedUpgradeAt: telling.refusedUpgradeAt,
    /** What a store that was put back is enforced with. */
    hold: enforcement.hold,
    startOver: enforcement.startOver,
    release: enforcement.release,
    isOff: enforcement.isOff,
    /** Resolves when guards serve what is stored, or after a time in which they should. */
    guardsFollow: (): Promise<void> => inTime(enforcement.refresh(), {}),

    publish: telling.publish,
    tell: telling.tell,

    /** Throws a `Refusal` for a change of a setting that could lock the caller out. */
    async checkSetting(tx: Executor, key: SettingKey, value: string, actor: Actor): Promise<void> {
      if (key === MASTER_SWITCH) await lockOut.checkSwitch(tx, value === 'true', actor);
    },

    /** To be told of every setting that changed; resolves when it is enforced, or after a time in which it should be. */
    async settingChanged(key: SettingKey): Promise<void> {
      const follow = key === 'security.block_log.entries' ? telling.trimBlocks() : enforcement.refresh();
      await inTime(follow, { key });
    },

    async routes(app: App): Promise<void> {
      await securityRoutes(security)(app);
      await decisionRoutes(decisions)(app);
      await rulesetRoutes(rulesets)(app);
      await accessListRoutes(accessLists)(app);
      for (const routes of telling.routes) await routes(app);
      await crowdsecRoutes(crowdsec)(app);
      await presetRoutes(crowdsec.presets)(app);
      await consoleRoutes(crowdsec.console)(app);
    },

    /** Enforces what is stored and takes in what guards tell, until stopped. */
    async start(): Promise<{ stop(): Promise<void> }> {
      const told = await telling.start();
      // What is stored may be what nobody can enforce, as after a restore by hand: that is told, and mended over the API.
      await enforcement.replay().catch((err: unknown) => log.error({ err }, 'what is stored can not be enforced'));
      const watch = enforcement.watch();
      const intrusions = await crowdsec.run();
      return {
        async stop() {
          await intrusions.stop();
          await watch.stop();
          await told.stop();
        },
      };
    },
  };
};
export type Protection = ReturnType<typeof createProtection>;
