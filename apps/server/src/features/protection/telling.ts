import type { CountryLookup } from '@sallyport/access';
import type { NotificationEvent } from '@sallyport/contract';
import { logSocket } from '@sallyport/deployment/places';
import { proxySocketMode } from '@sallyport/deployment/proxy-account';
import type { SafeFetch } from '../../net/safe-fetch.ts';
import type { Ground } from '../ground.ts';
import type { System } from '../system/index.ts';
import { countStore } from './blocks/counts/store.ts';
import { blockRoutes } from './blocks/routes.ts';
import { createBlocks } from './blocks/service.ts';
import { blockStore } from './blocks/store.ts';
import { createGuardCounters } from './logs/guard-counters.ts';
import { createLogHub } from './logs/hub.ts';
import { startLogIntake } from './logs/log-intake.ts';
import { createRefusedUpgrades } from './logs/refused-upgrades.ts';
import { logRoutes } from './logs/routes.ts';
import { toNotification } from './logs/security-event.ts';
import { createSecurityLog } from './logs/service.ts';
import { createDeliveries } from './notifications/deliveries.ts';
import { createNotifier } from './notifications/notifier.ts';
import { notificationRoutes } from './notifications/routes.ts';
import { createNotifications } from './notifications/service.ts';
import { notificationStore } from './notifications/store.ts';
import { securityStore } from './suite/store.ts';

export interface TellingDeps {
  system: Pick<System, 'settings' | 'mailer' | 'metrics'>;
  fetch: SafeFetch;
  checkWebhookUrl: (url: string) => Promise<void>;
  /** What HAProxy still holds of its log. */
  heldLines: () => Promise<readonly string[]>;
  /** Undefined while no country database is installed. */
  country: CountryLookup | undefined;
}

/** Entries of the live stream that a new reader can ask for. */
const LOG_ENTRIES = 1_000;
/** Bytes that may wait for a reader of the live stream. */
const READER_BUFFER_BYTES = 1024 * 1024;
/** Spec, Limits. */
const PING_MS = 30_000;

/** Wires what the suite tells: the live log, blocks, notifications and counts. Call `start` once. */
export const createTelling = (
  { dataDir, database, vault, record, clock, log }: Ground,
  { system: { settings, mailer, metrics }, fetch, checkWebhookUrl, heldLines, country }: TellingDeps,
) => {
  const { kysely: db, transact } = database;
  const deliveries = createDeliveries(clock);
  const notifications = createNotifications({
    ...{ db, transact, record, clock },
    store: notificationStore,
    vault,
    checkWebhookUrl,
    otherWebhookUrl: async () => (await securityStore(db).config())?.webhook_url ?? '',
    fetch,
    sendMail: mailer.trySend,
    deliveries,
  });
  const notifier = createNotifier({ targets: notifications.targets, deliveries, log });
  const blocks = createBlocks({
    db,
    store: blockStore,
    isShared: database.kind === 'postgres',
    counts: countStore,
    limit: async () => Number(await settings.read('security.block_log.entries')),
    country,
    clock,
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
  const liveReaders = {
    pingMs: PING_MS,
    maxBufferedBytes: READER_BUFFER_BYTES,
    onCutOff: () => {
      cutOff += 1;
    },
  };

  /** Whoever was here before us may have ended with lines unread. */
  const recoverLines = async (): Promise<void> => {
    try {
      if (await blocks.areKept()) await securityLog.recover(await heldLines(), blocks);
    } catch (err) {
      log.warn({ err }, 'what HAProxy refused before the start could not be read again');
    }
  };

  return {
    notifications,
    /** Puts a line into the live log. */
    publish: hub.publish,
    refusedUpgradeAt: refusedUpgrades.lastAt,
    /** Keeps as many blocks as the settings say. */
    trimBlocks: blocks.trim,

    /** What is counted of all this. */
    counted: {
      notifications: notifier.counts,
      logs: () => ({ readers: hub.readers(), cutOff, invalid: securityLog.invalid() }),
      blocks: () => ({ dropped: blocks.dropped() }),
      guards: () => ({ ...counters.totals(), revisions: counters.revisions() }),
    },

    /** Puts an event that is no request into the live log, and notifies of it. */
    tell(event: NotificationEvent): void {
      const { event_type, severity: level, message, timestamp, details } = event;
      hub.publish({ level, message, timestamp, source: 'guard', fields: { event: event_type, ...details } });
      notifier.notify(event);
    },

    routes: [notificationRoutes(notifications, deliveries, notifier), blockRoutes(blocks), logRoutes(hub, liveReaders)],

    /** Takes in what HAProxy and guards tell, until stopped. */
    async start(): Promise<{ stop(): Promise<void> }> {
      await recoverLines();
      const countries = blocks.completeCountries();
      const path = logSocket(dataDir);
      const intake = await startLogIntake({
        path,
        mode: proxySocketMode(path),
        onLine: securityLog.ingestLine,
        onInvalid: securityLog.countInvalid,
      });
      return {
        async stop() {
          await intake.stop();
          securityLog.stop();
          await notifier.stop();
          await blocks.stop();
          await countries;
        },
      };
    },
  };
};
