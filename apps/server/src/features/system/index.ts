import { newestCopy } from '@sallyport/backup/shelf/newest-copy';
import { putFiles } from '@sallyport/backup/shelf/put-files';
import { createReceipts } from '@sallyport/backup/shelf/receipts';
import { createShelf } from '@sallyport/backup/shelf/shelf';
import type { NotificationEvent, SettingKey } from '@sallyport/contract';
import { createDrill, type DrillDeps } from '@sallyport/recovery/drill/drill';
import type { App } from '../../http/app-type.ts';
import { sendMail } from '../../net/mail.ts';
import type { SafeFetch } from '../../net/safe-fetch.ts';
import { systemLookup } from '../../net/system-lookup.ts';
import type { DeclaredKinds } from '../declared.ts';
import type { Ground } from '../ground.ts';
import type { HostIntake } from '../host-intake.ts';
import { pruneRegularly } from '../prune-regularly.ts';
import type { Reverters } from '../reverter.ts';
import { createCopier } from './backups/copies/copier.ts';
import { noticeOfChange } from './backups/copies/kept-here.ts';
import { registerBackupMetrics } from './backups/metrics.ts';
import { backupRoutes } from './backups/routes.ts';
import { createSchedule } from './backups/schedule.ts';
import { type BackupDeps, createBackups } from './backups/service.ts';
import { scheduleStore } from './backups/store.ts';
import { watchProof } from './emergency/proof-watch.ts';
import { emergencyRoutes } from './emergency/routes.ts';
import { createEmergency, type EmergencyDeps } from './emergency/service.ts';
import { createMetrics, type PlaneStatus } from './health/metrics.ts';
import { healthRoutes, metricsRoute } from './health/routes.ts';
import { registerUnjudgedMetrics, type Unjudged } from './health/unjudged-metrics.ts';
import { createReader } from './import/read.ts';
import { importRoutes } from './import/routes.ts';
import { createImports } from './import/service.ts';
import { importStore } from './import/store.ts';
import { createVerifier, type VerifyDeps } from './import/verify/service.ts';
import { checkStoredSettings } from './restore/check-settings.ts';
import { restoreRoutes } from './restore/routes.ts';
import { createRestore, type RestoreDeps } from './restore/service.ts';
import { createMailer } from './settings/mailer.ts';
import { createSettingReverter } from './settings/reverter.ts';
import { settingRoutes } from './settings/routes.ts';
import { createSettings, type SettingDeps } from './settings/service.ts';
import { settingStore } from './settings/store.ts';
import { registerTrafficMetrics } from './traffic-figures/metrics.ts';
import { trafficFigureRoutes } from './traffic-figures/routes.ts';
import { createTrafficFigures, type TrafficFiguresDeps } from './traffic-figures/service.ts';
import { urlRoutes } from './url-check/routes.ts';
import { createUrlTest } from './url-check/service.ts';

export { gaugesOf } from './health/gauges.ts';
export type { Mailer } from './settings/mailer.ts';
export type { Settings } from './settings/service.ts';

const PRUNE_IMPORTS_MS = 3_600_000;

export interface SystemDeps {
  config: EmergencyDeps['config'] & DrillDeps['config'] & BackupDeps['config'];
  fetch: SafeFetch;
  /** What HAProxy tells of itself. */
  proxy: {
    status: () => PlaneStatus;
    isUp: () => Promise<boolean>;
    /** Undefined while HAProxy does not answer. */
    unjudged: () => Promise<Unjudged | undefined>;
    traffic: TrafficFiguresDeps['read'];
    /** How this machine reaches it, as a client would. */
    doors: VerifyDeps['newDoors'];
  };
  /** Throws a `Refusal` for a change of a setting that this caller may not make. */
  checkSetting: SettingDeps['check'];
  /** Called after a setting was stored by this process. */
  settingChanged: (key: SettingKey) => Promise<void>;
  /** Looks at what a backup holds of the other neighbourhoods; throws a `Refusal`. */
  checkStored: RestoreDeps['check'];
  /** See `createRestoredState`. */
  duringRestore: RestoreDeps['during'];
  /** Forgets what is kept of the store in memory. */
  forgetStored: () => void;
  /** Where imported hosts come in. */
  intake: HostIntake;
  /** Says why an address and port are not for asking on somebody's behalf: link-local, metadata, our own listeners. */
  reservedOrigin: VerifyDeps['reservedOrigin'];
  /** Tells an event to the live log and to whoever gets notifications. */
  tell: (event: NotificationEvent) => void;
}

/** Wires how the service itself is set up, backed up and watched over: settings, mail, backups, metrics, health, the way back in. */
export const createSystem = (ground: Ground, deps: SystemDeps) => {
  const { config, fetch, proxy, checkSetting, settingChanged, tell } = deps;
  const { checkStored, duringRestore, forgetStored } = deps;
  const { database, vault, audit, record, clock, log } = ground;
  const { kysely: db, transact, transactAside } = database;
  const settings = createSettings({
    db,
    transact,
    store: settingStore,
    vault,
    record,
    check: checkSetting,
    noticeOf: (key, wasSet) => noticeOfChange(key, wasSet, settings.read),
    async changed(key) {
      if (key.startsWith('backup.')) {
        schedule.changed();
        copier.changed();
      }
      await settingChanged(key);
    },
  });
  const mailer = createMailer({ read: settings.read, send: sendMail, log });
  const testUrl = createUrlTest({ fetch, now: () => performance.now() });
  const metrics = createMetrics(proxy.status);
  const { registry } = metrics;
  registerUnjudgedMetrics(registry, proxy.unjudged);
  const traffic = createTrafficFigures({ dataDir: config.dataDir, read: proxy.traffic, clock, log });
  registerTrafficMetrics(registry, traffic.counters);
  const shelf = createShelf(config.dataDir);
  const copier = createCopier({
    shelf,
    receipts: createReceipts(config.dataDir),
    read: settings.read,
    tell,
    failed: () => backupMetrics.copyFailed.inc(),
    clock,
    log,
  });
  const backups = createBackups({
    config,
    transactAside,
    record,
    note: audit.note,
    storedPassphrase: async () => (await settings.read('backup.passphrase')) || undefined,
    keep: async () => Number(await settings.read('backup.keep')),
    copies: copier,
    clock,
    log,
  });
  const backupMetrics = registerBackupMetrics(registry, shelf.newestRead);
  const schedule = createSchedule({
    store: scheduleStore(db),
    read: settings.read,
    make: backups.createScheduled,
    tell,
    failed: () => backupMetrics.failed.inc(),
    clock,
    log,
  });
  const restore = createRestore({
    database,
    vault,
    dataDir: config.dataDir,
    async open(name, passphrase) {
      const archive = await backups.openVerified(name, passphrase);
      const { manifest, tables, key, close } = archive;
      const putBackFiles = () => putFiles(archive, config.dataDir);
      return { migrations: manifest.migrations, tables, key, close, putFiles: putBackFiles };
    },
    backUp: async (reason) => (await backups.createAutomatic(reason)).name,
    async check(staged) {
      await checkStoredSettings(staged);
      await checkStored(staged);
    },
    during: duringRestore,
    forget: forgetStored,
    record,
    clock,
  });
  const imports = createImports({
    db,
    transact,
    transactAside,
    store: importStore,
    vault,
    read: createReader(),
    intake: deps.intake,
    backUp: async (reason) => (await backups.createAutomatic(reason)).name,
    record,
    clock,
    log,
  });
  const verifyImport = createVerifier({
    db,
    transactAside,
    store: importStore,
    intake: deps.intake,
    newDoors: proxy.doors,
    lookup: systemLookup,
    reservedOrigin: deps.reservedOrigin,
    record,
  });
  const emergency = createEmergency({
    config,
    drill: createDrill({
      config,
      db,
      transactAside,
      record,
      newestVerifiedBackup: backups.newestVerifiedBackup,
      copies: () => newestCopy(db, config.dataDir),
      clock,
    }),
    transact,
    record,
    note: audit.note,
    enforce: () => settingChanged('feature.guard.enabled'),
    log,
  });
  const reverters = { settings: createSettingReverter(settings) } satisfies Reverters;
  return {
    reverters,

    /** What can be configured as code. */
    declared: { settings: { ...reverters.settings, all: (tx) => settingStore(tx).all() } } satisfies Pick<
      DeclaredKinds,
      'settings'
    >,

    settings,
    mailer,
    metrics,
    /** Makes a backup before something is changed that can't be taken back. */
    backUp: backups.createAutomatic,

    emergencyRoutes: emergencyRoutes(emergency),
    async healthRoutes(app: App): Promise<void> {
      await healthRoutes({ registry, isProxyUp: proxy.isUp })(app);
      await trafficFigureRoutes(traffic)(app);
    },
    /** For the root of the server, where scrapers look when they are told nothing else. */
    metricsRoute: metricsRoute(registry),
    async backupRoutes(app: App): Promise<void> {
      await backupRoutes(backups, copier)(app);
      await restoreRoutes(restore)(app);
    },
    importRoutes: importRoutes(imports, verifyImport),
    async settingRoutes(app: App): Promise<void> {
      await settingRoutes({ settings, mailer })(app);
      await urlRoutes(testUrl)(app);
    },

    /** Begins to tell what is long due; call it once there is somebody to tell. */
    async startWatch(): Promise<{ stop(): Promise<void> }> {
      const counting = await traffic.start();
      await backups.tidy();
      const proof = await watchProof({ db, isSetUp: config.emergencyToken !== undefined, tell, clock, log });
      const scheduled = schedule.start();
      const copying = copier.start();
      await imports.takeUp();
      const pruning = pruneRegularly({
        intervalMs: PRUNE_IMPORTS_MS,
        prune: imports.prune,
        says: { removed: 'old imports were forgotten', failed: 'old imports could not be forgotten' },
        log,
      });
      return {
        async stop() {
          await pruning.stop();
          await imports.idle();
          await copying.stop();
          await scheduled.stop();
          await proof.stop();
          await counting.stop();
        },
      };
    },

    stop: emergency.stop,
  };
};
export type System = ReturnType<typeof createSystem>;
