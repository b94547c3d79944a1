import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { backUpBeforeMigration } from '@sallyport/backup/shelf/before-migration';
import { cidrSet } from '@sallyport/deployment/cidr';
import { type Config, ConfigError } from '@sallyport/deployment/config';
import { prepareDataDir } from '@sallyport/deployment/data-dir';
import { formatAddress } from '@sallyport/deployment/listen';
import { apiSocket, restoresFile } from '@sallyport/deployment/places';
import { proxySocketMode } from '@sallyport/deployment/proxy-account';
import { createAudit } from '@sallyport/store/audit/service';
import { auditStore } from '@sallyport/store/audit/store';
import { migrate } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { countRestores } from '@sallyport/store/database/restores';
import { listenForRoutes } from '@sallyport/store/database/route-notices';
import { createHistory, oneByOne, recordAll } from '@sallyport/store/history/record';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import { removeLeftRestores } from '@sallyport/store/snapshot/restore';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { openDataPlane } from './dataplane/index.ts';
import { createRestoredState } from './dataplane/restored-state.ts';
import { createAccounts } from './features/accounts/index.ts';
import { createConfigAsCode } from './features/as-code/index.ts';
import type { Ground } from './features/ground.ts';
import { createChanges } from './features/history/index.ts';
import { createProtection } from './features/protection/index.ts';
import { checkStoredProtection } from './features/protection/stored.ts';
import { createSystem } from './features/system/index.ts';
import { createTraffic } from './features/traffic/index.ts';
import { checkStoredTraffic, createRouteSource, noticing } from './features/traffic/stored.ts';
import { createClientAddress } from './http/client-address.ts';
import { createIdempotency } from './http/idempotency/service.ts';
import { idempotencyStore } from './http/idempotency/store.ts';
import { createIdentify } from './http/identify.ts';
import { openProxyDoor } from './http/proxy-door.ts';
import { isMetadataName, isMetadataOrLinkLocal } from './net/blocked-addresses.ts';
import { createDestinationCheck } from './net/check-destination.ts';
import { type AddressPolicy, createSafeFetch } from './net/safe-fetch.ts';
import { systemLookup } from './net/system-lookup.ts';

/** An address that the operator named may be a private one. */
const OPERATORS_OWN: AddressPolicy = { isBlockedAddress: isMetadataOrLinkLocal, isBlockedName: isMetadataName };

/** How long the API waits for everything stored to be read for the data plane; a million hosts take some seconds. */
const READ_WITHIN_MS = 10_000;

export interface RunningServer {
  /** URL of the API root's origin, e.g. `http://127.0.0.1:8080`. */
  url: string;
  /** `METHOD path policy` of every route. */
  routePolicies: readonly string[];
  stop(): Promise<void>;
}

/** What a caller may put in place of the real thing; tests pass time, and addresses that stand for public ones. */
export interface StartOptions {
  clock?: () => Date;
  /** Destinations that are refused when the server fetches on a caller's behalf. */
  addressPolicy?: AddressPolicy;
  /** The programs of CrowdSec; default: those of Debian's package. */
  crowdsec?: { daemon: string; cli: string; hub: string };
  /** Shows the operator the token that setting up from another host needs. */
  announceSetupToken?: (token: string) => void;
}

/** Opens what is sealed in the store. Throws a `ConfigError` when this deployment's key is not the one of the store. */
const openSealed = async (
  database: Database,
  config: Config,
  clock: () => Date,
): Promise<Pick<Ground, 'vault' | 'audit'>> => {
  const { kysely: db, transactAside } = database;
  const vault = await openStoreVault(database, config);
  const audit = createAudit({ db, transactAside, store: auditStore, vault, clock });
  await audit.checkKey().catch((error: Error) => {
    throw new ConfigError([
      `SALLYPORT_ENCRYPTION_KEY, or encryption.key, is not the key of this store: ${error.message}`,
    ]);
  });
  return { vault, audit };
};

/** Builds the service from its configuration, starts it, and returns when it accepts requests. */
export const startServer = async (
  config: Config,
  log: Logger,
  { clock = () => new Date(), addressPolicy, crowdsec, announceSetupToken = () => {} }: StartOptions = {},
): Promise<RunningServer> => {
  const { dataDir } = config;
  prepareDataDir(dataDir);
  const database = openDatabase(config);
  const stopFirst = async (error: unknown): Promise<never> => {
    await database.stop();
    throw error;
  };
  const backup = await backUpBeforeMigration(database, config).catch(stopFirst);
  if (backup) log.info({ backup }, 'a backup was made before the store is brought up to this version');
  await migrate(database);
  const { vault, audit } = await openSealed(database, config, clock).catch(stopFirst);
  const { kysely: db } = database;
  const idempotency = createIdempotency({ db, store: idempotencyStore, vault, clock });
  // With PostgreSQL another node may be answering them.
  if (database.kind === 'sqlite') await idempotency.forgetUnanswered();
  const recordMany = recordAll(audit.recordMany, createHistory({ vault, clock }), idempotency.recorded);
  const record = oneByOne(recordMany);
  const ground: Ground = { dataDir, database, vault, audit, record, recordMany, clock, log };

  // Asked of the kernel once: every host that is read compares its origin with it.
  let bound: AddressInfo | null = null;
  const boundPort = () => {
    bound ??= app.server.address() as AddressInfo | null;
    return bound?.port ?? config.httpBind.port;
  };
  // A store of our own is put back by this process only, which holds the proxy before it does.
  const noticeRestore = async (): Promise<void> => (config.databaseUrl ? restored.notice() : undefined);
  const dataPlane = await openDataPlane({
    config,
    database,
    stored: noticing(createRouteSource(db, vault), noticeRestore),
    ownAddress: () => ({ ...config.httpBind, port: boundPort() }),
    clock,
    log,
  });
  const fetch = createSafeFetch({ lookup: systemLookup, ...(addressPolicy ? { addressPolicy } : {}) });
  const system = createSystem(ground, {
    config,
    fetch,
    proxy: dataPlane.proxy,
    checkSetting: (...change) => protection.checkSetting(...change),
    async checkStored(staged) {
      await checkStoredTraffic(staged, vault);
      await checkStoredProtection(staged);
    },
    async duringRestore(swap) {
      const swapped = await restored.during(swap);
      await protection.guardsFollow();
      return swapped;
    },
    forgetStored() {
      accounts.invalidate();
      traffic.forget();
    },
    async settingChanged(key) {
      if (key === 'auth.require_totp') accounts.invalidate();
      traffic.settingChanged(key);
      await protection.settingChanged(key);
    },
    intake: {
      wouldBe: (input) => traffic.intake.wouldBe(input),
      ownersByName: (...asked) => traffic.intake.ownersByName(...asked),
      isJudged: (list) => protection.isJudged(list),
      bringInLists: (...lists) => protection.bringInLists(...lists),
      bringIn: (...hosts) => traffic.intake.bringIn(...hosts),
      certificateIssue: (certificate) => traffic.intake.certificateIssue(certificate),
      bringInCertificates: (...certificates) => traffic.intake.bringInCertificates(...certificates),
      sync: (changed) => traffic.intake.sync(changed),
      keepingWayIn: (...change) => traffic.intake.keepingWayIn(...change),
    },
    reservedOrigin: dataPlane.reservedOrigin,
    tell: (event) => protection.tell(event),
  });
  const accounts = createAccounts(ground, {
    settings: system.settings,
    mailer: system.mailer,
    sessionSecret: config.sessionSecret,
    localUrl: () => `http://${formatAddress(config.httpBind.host || 'localhost', boundPort())}`,
  });
  const protection = createProtection(ground, {
    plane: dataPlane.protection,
    closeMoving: dataPlane.routes.closeMoving,
    heldLines: dataPlane.heldLines,
    isOwnApi: dataPlane.isOwnApi,
    crowdsecPort: config.crowdsecPort,
    crowdsecConsole: {
      url: config.crowdsecConsole,
      fetch:
        config.crowdsecConsole === undefined
          ? fetch
          : createSafeFetch({ lookup: systemLookup, addressPolicy: OPERATORS_OWN }),
    },
    crowdsecMode: config.crowdsecMode,
    crowdsecProgram: crowdsec,
    databaseUrl: config.databaseUrl,
    noticeRestore,
    fetch,
    checkDestination: createDestinationCheck({ lookup: systemLookup, addressPolicy }),
    system,
    accounts,
  });
  const node = randomUUID();
  const traffic = createTraffic(ground, {
    administratorsFetch: createSafeFetch({ lookup: systemLookup, addressPolicy: OPERATORS_OWN }),
    node,
    dockerSocket: config.dockerSocket,
    plane: dataPlane.routes,
    reservedOrigin: dataPlane.reservedOrigin,
    isOwnApi: dataPlane.isOwnApi,
    protection,
    backUp: system.backUp,
    settings: system.settings,
    provePassword: accounts.provePassword,
    metrics: system.metrics,
  });
  const changes = createChanges(ground, {
    settings: system.settings,
    reverters: { ...traffic.reverters, ...protection.reverters, ...system.reverters },
    keepingWayIn: traffic.intake.keepingWayIn,
    tell: protection.tell,
  });
  const asCode = createConfigAsCode(ground, {
    declared: { ...traffic.declared, ...protection.declared, ...system.declared },
    certificates: traffic.namedCertificates,
    keepingWayIn: traffic.intake.keepingWayIn,
    backUp: async (reason) => (await system.backUp(reason)).name,
  });
  const app = await createApp({
    config,
    identify: createIdentify(config.apiAuth, accounts.resolve),
    clientAddress: createClientAddress(cidrSet(config.trustedProxies)),
    beginRequest: idempotency.begin,
    log,
    features: { system, accounts, protection, traffic, changes, asCode },
  });

  await removeLeftRestores(dataDir);
  const watching = Promise.withResolvers<ReturnType<typeof dataPlane.watch>>();
  const restored = createRestoredState({
    count: () => countRestores(db),
    path: restoresFile(dataDir),
    protection,
    async reconcileRoutes() {
      traffic.forget();
      return dataPlane.matches(await watching.promise);
    },
    log,
  });

  const retention = accounts.startRetention();
  const historyRetention = changes.startRetention();
  // The process may have ended before a restore was in force; another node may have done one since.
  await restored.notice();
  await changes.takeOverdueBack();
  const protecting = await protection.start();
  const confirmations = changes.watchConfirmations();
  const reminding = await system.startWatch();
  // Before the first reconcile: what is committed during it is told, or read by it.
  const otherNodes = config.databaseUrl
    ? await listenForRoutes({
        database,
        url: config.databaseUrl,
        node,
        onChanged: traffic.changedElsewhere,
        onChallenges: traffic.challenges.changedElsewhere,
        onChallengesHeld: traffic.challenges.heldElsewhere,
        onGap() {
          traffic.forget();
          void traffic.challenges.replay();
          return watch.reconcile();
        },
        log,
      })
    : undefined;
  const watch = dataPlane.watch(() => {
    // Another process may have started from files that lack the last moment's changes.
    protection.replay().catch((err: unknown) => log.error({ err }, 'replay failed'));
    void traffic.challenges.replay();
  });
  watching.resolve(watch);
  const challenges = traffic.challenges.start();
  // Whoever is answered may change something, and a change waits for what is stored to be read once.
  const started = new AbortController();
  await Promise.race([
    dataPlane.routes.attempted,
    delay(READ_WITHIN_MS, undefined, { signal: started.signal }).catch(() => undefined),
  ]);
  started.abort();
  await app.listen({ host: config.httpBind.host || '::', port: config.httpBind.port });
  const path = apiSocket(dataDir);
  const door = await openProxyDoor({ server: app.server, path, mode: proxySocketMode(path) });
  await accounts.announceSetup(announceSetupToken);
  const orders = await traffic.startOrders();
  const { address, port, family } = app.server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    routePolicies: app.routePolicies,
    async stop() {
      // In reverse order of their start; one that fails, as without a database, must not keep the others from stopping.
      for (const part of [
        door,
        { stop: () => app.close() },
        ...(otherNodes ? [otherNodes] : []),
        restored,
        orders,
        challenges,
        watch,
        reminding,
        system,
        protecting,
        dataPlane.protection,
        retention,
        historyRetention,
        confirmations,
        dataPlane,
        database,
      ]) {
        await part.stop().catch((err: unknown) => log.error({ err }, 'a part did not stop cleanly'));
      }
    },
  };
};
