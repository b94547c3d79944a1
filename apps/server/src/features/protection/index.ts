import { checkCountryDatabase, findCountryDatabase } from '@sallyport/access/country-database';
import type { SettingKey } from '@sallyport/contract';
import { proxySocketMode } from '@sallyport/deployment/proxy-account';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Database, Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import type { CheckDestination } from '../../net/check-destination.ts';
import { type SafeFetch, SafeFetchError } from '../../net/safe-fetch.ts';
import type { Auth } from '../accounts/auth/service.ts';
import type { Metrics } from '../system/health/metrics.ts';
import { registerSecurityMetrics } from '../system/health/security-metrics.ts';
import { createAccessLists } from './access-lists/service.ts';
import { accessListStore } from './access-lists/store.ts';
import { createBlocks } from './blocks/service.ts';
import { blockStore } from './blocks/store.ts';
import { createDecisions } from './decisions/service.ts';
import { decisionStore } from './decisions/store.ts';
import { createGuardCounters } from './logs/guard-counters.ts';
import { createLogHub } from './logs/hub.ts';
import { logSocket, startLogIntake } from './logs/log-intake.ts';
import { createRefusedUpgrades } from './logs/refused-upgrades.ts';
import { toNotification } from './logs/security-event.ts';
import { createSecurityLog } from './logs/service.ts';
import { createNotifier } from './notifications/notifier.ts';
import { createNotifications, type SendMail } from './notifications/service.ts';
import { notificationStore } from './notifications/store.ts';
import { createRuleCheck } from './rulesets/check-rules.ts';
import { findCoreRuleSet } from './rulesets/core-rule-set.ts';
import { createRulesets } from './rulesets/service.ts';
import { rulesetStore } from './rulesets/store.ts';
import { createSecuritySource } from './stored-protection.ts';
import { createTargetCheck } from './suite/check-targets.ts';
import { createEnforcement } from './suite/enforcement.ts';
import { createGuardConfigFile } from './suite/guard-config-file.ts';
import { createLockOutRules } from './suite/lock-out.ts';
import { splitNetworks } from './suite/network-list.ts';
import type { EnforcementPlane } from './suite/ports.ts';
import { createSecurity } from './suite/service.ts';
import { MASTER_SWITCH, securityStore } from './suite/store.ts';

export interface SecuritySuiteDeps {
  database: Database;
  dataDir: string;
  vault: Vault;
  fetch: SafeFetch;
  checkDestination: CheckDestination;
  sendMail: SendMail;
  readSetting: (key: SettingKey) => Promise<string>;
  /** Count and record wrong break-glass tokens. */
  beginSecretAttempt: Auth['beginSecretAttempt'];
  noteFailure: Auth['noteFailure'];
  /** Whether an origin is our own management API. */
  isOwnApi: (host: string, port: number) => boolean;
  /** Where the suite is enforced. */
  enforcementPlane: EnforcementPlane;
  metrics: Metrics;
  record: RecordChange;
  clock: () => Date;
  log: Logger;
}

/** Entries of the live stream that a new reader can ask for. */
const LOG_ENTRIES = 1_000;
/** Bytes that may wait for a reader of the live stream. */
const READER_BUFFER_BYTES = 1024 * 1024;
/** Spec, Limits. */
const PING_MS = 30_000;
const RULES_TIMEOUT_MS = 20_000;
/** How long an answer waits for guards that compile rules; `GET /security/status` tells when it took longer. */
const ENFORCED_WITHIN_MS = 10_000;
const RULES_REDIRECTS = 3;

/** Wires the security suite: what is stored, what is enforced, and what it tells. Call `start` once. */
export const createSecuritySuite = (deps: SecuritySuiteDeps) => {
  const { database, dataDir, fetch, metrics, record, clock, log } = deps;
  const { kysely: db, transact } = database;
  const countryDatabase = findCountryDatabase(dataDir);
  const country = countryDatabase === undefined ? undefined : checkCountryDatabase(countryDatabase);

  const enforcement = createEnforcement({
    source: createSecuritySource(db, deps.isOwnApi),
    plane: deps.enforcementPlane,
    guardFile: createGuardConfigFile(dataDir),
    core: findCoreRuleSet,
    clock,
    log,
  });

  const checkWebhookUrl = async (url: string): Promise<void> => {
    try {
      await deps.checkDestination(url);
    } catch (error) {
      throw error instanceof SafeFetchError ? refuse.invalid(`Invalid webhook URL: ${error.message}`) : error;
    }
  };

  const fetchText = async (url: string, { maxBytes }: { maxBytes: number }): Promise<string> => {
    try {
      const limits = { maxBytes, timeoutMs: RULES_TIMEOUT_MS, maxRedirects: RULES_REDIRECTS };
      const { status, body } = await fetch(url, { method: 'GET', ...limits });
      if (status !== 200) throw refuse.invalid(`source_url could not be fetched: it answered with status ${status}`);
      return body.toString('utf8');
    } catch (error) {
      if (!(error instanceof SafeFetchError)) throw error;
      throw refuse.invalid(`source_url could not be fetched: ${error.message}`);
    }
  };

  const common = { db, transact, record, clock };
  const changed = enforcement.refresh;
  const { inForce } = enforcement;
  const whitelist = async (executor: Executor) =>
    splitNetworks((await securityStore(executor).config())?.admin_whitelist ?? '');

  const lockOut = createLockOutRules(securityStore);

  const notifications = createNotifications({
    ...common,
    store: notificationStore,
    vault: deps.vault,
    checkWebhookUrl,
    otherWebhookUrl: async () => (await securityStore(db).config())?.webhook_url ?? '',
    fetch,
    sendMail: deps.sendMail,
  });
  const notifier = createNotifier({ targets: notifications.targets, log });
  const blocks = createBlocks({
    db,
    store: blockStore,
    limit: async () => Number(await deps.readSetting('security.block_log.entries')),
    log,
  });
  const hub = createLogHub(LOG_ENTRIES);
  const counters = createGuardCounters();
  const refusedUpgrades = createRefusedUpgrades(clock);
  const securityLog = createSecurityLog({
    hub,
    clock,
    onEvent(event) {
      blocks.record(event);
      refusedUpgrades.note(event);
      const notification = toNotification(event);
      if (notification) notifier.notify(notification);
    },
    onCounters(report) {
      const { requests, blocked, monitored } = counters.update(report);
      metrics.waf.requests.inc(requests);
      metrics.waf.blocked.inc(blocked);
      metrics.waf.monitored.inc(monitored);
    },
  });
  let cutOff = 0;
  registerSecurityMetrics(metrics.registry, {
    bans: enforcement.banCount,
    enforcement: enforcement.status,
    notifications: notifier.counts,
    logs: () => ({ readers: hub.readers(), cutOff, invalid: securityLog.invalid() }),
    blocks: () => ({ dropped: blocks.dropped() }),
    guards: () => ({ ...counters.totals(), revisions: counters.revisions() }),
  });

  return {
    enforcement,
    notifications,
    blocks,
    hub,
    securityLog,
    refusedUpgradeAt: refusedUpgrades.lastAt,
    liveReaders: {
      pingMs: PING_MS,
      maxBufferedBytes: READER_BUFFER_BYTES,
      onCutOff: () => {
        cutOff += 1;
      },
    },
    security: createSecurity({
      ...common,
      store: securityStore,
      rulesetNames: async (executor) => (await rulesetStore(executor).list()).map(({ name }) => name),
      checkWebhookUrl,
      checkTargets: createTargetCheck(async () => (await import('@sallyport/waf')).compile),
      enforcement,
      lockOut,
      beginSecretAttempt: deps.beginSecretAttempt,
      noteFailure: deps.noteFailure,
    }),
    decisions: createDecisions({ ...common, store: decisionStore, whitelist, plane: enforcement, inForce }),
    rulesets: createRulesets({
      ...common,
      store: rulesetStore,
      check: createRuleCheck(findCoreRuleSet, () => securityStore(db).largestBodyLimit()),
      fetchText,
      changed,
    }),
    accessLists: createAccessLists({ ...common, store: accessListStore, country, inForce, changed }),

    /** Throws a `Refusal` for a change of a setting that could lock the caller out. */
    async checkSetting(tx: Executor, key: SettingKey, value: string, actor: Actor): Promise<void> {
      if (key === MASTER_SWITCH) await lockOut.checkSwitch(tx, value === 'true', actor);
    },

    /** To be told of every setting that changed; resolves when it is enforced, or after a time in which it should be. */
    async settingChanged(key: SettingKey): Promise<void> {
      const follow = key === 'security.block_log.entries' ? blocks.trim() : enforcement.refresh();
      const followed = follow.catch((err: unknown) => log.error({ err, key }, 'setting could not be followed'));
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ENFORCED_WITHIN_MS);
      await Promise.race([followed, late]);
      clearTimeout(timer);
    },

    /** Enforces what is stored and takes in what guards tell, until stopped. */
    async start(): Promise<{ stop(): Promise<void> }> {
      const intake = await startLogIntake({
        path: logSocket(dataDir),
        mode: proxySocketMode(logSocket(dataDir)),
        onLine: securityLog.ingestLine,
        onInvalid: securityLog.countInvalid,
      });
      await enforcement.replay();
      const watch = enforcement.watch();
      return {
        async stop() {
          await intake.stop();
          securityLog.stop();
          await watch.stop();
          await notifier.stop();
          await blocks.stop();
        },
      };
    },
  };
};
export type SecuritySuite = ReturnType<typeof createSecuritySuite>;
