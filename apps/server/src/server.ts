import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { cidrSet } from '@sallyport/deployment/cidr';
import { type Config, ConfigError } from '@sallyport/deployment/config';
import { prepareDataDir } from '@sallyport/deployment/data-dir';
import { formatAddress } from '@sallyport/deployment/listen';
import { adminSocket, apiSocket, proxyDirectory } from '@sallyport/deployment/places';
import { proxySocketMode } from '@sallyport/deployment/proxy-account';
import { createDataPlane, type DataPlaneEvent } from '@sallyport/haproxy';
import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { listenForRoutes } from '@sallyport/store/database/route-notices';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { createEnforcementPlane } from './dataplane/protection/plane.ts';
import { createProxyPulse } from './dataplane/proxy-pulse.ts';
import { haproxyProgram, ownListeners } from './dataplane/proxy-settings.ts';
import { createOriginGuard, createOwnOrigin } from './dataplane/routes/origins/guard.ts';
import { createOriginResolver } from './dataplane/routes/origins/resolver.ts';
import { originAddressStore } from './dataplane/routes/origins/store.ts';
import { createPlane } from './dataplane/routes/plane.ts';
import { watchDataPlane } from './dataplane/routes/watch.ts';
import { startRetention } from './features/accounts/audit/retention.ts';
import { createAccounts } from './features/accounts/index.ts';
import { createSecuritySuite } from './features/protection/index.ts';
import { createBackupWriter } from './features/system/backups/write-backup.ts';
import { createMetrics } from './features/system/health/metrics.ts';
import { registerUnjudgedMetrics } from './features/system/health/unjudged-metrics.ts';
import { createCertificates } from './features/traffic/certificates/service.ts';
import { certificateStore } from './features/traffic/certificates/store.ts';
import { createProxyHosts } from './features/traffic/proxy-hosts/service.ts';
import { proxyHostStore } from './features/traffic/proxy-hosts/store.ts';
import { createHostSurroundings } from './features/traffic/proxy-hosts/surroundings.ts';
import { createRemoteServers } from './features/traffic/remote-servers/service.ts';
import { remoteServerStore } from './features/traffic/remote-servers/store.ts';
import { createRouteSource } from './features/traffic/stored-routes.ts';
import { createClientAddress } from './http/client-address.ts';
import { createIdempotency } from './http/idempotency/service.ts';
import { idempotencyStore } from './http/idempotency/store.ts';
import { createIdentify } from './http/identify.ts';
import { openProxyDoor } from './http/proxy-door.ts';
import { createDestinationCheck } from './net/check-destination.ts';
import { type AddressPolicy, createSafeFetch } from './net/safe-fetch.ts';
import { systemLookup } from './net/system-lookup.ts';
import { probeTcp } from './net/tcp-probe.ts';

const LOOKUP_TIMEOUT_MS = 3_000;
/** How long the API waits for everything stored to be read for the data plane; a million hosts take some seconds. */
const READ_WITHIN_MS = 10_000;
/** Spec, contract.md: the connection test is a TCP connect with this limit. */
const CONNECTION_TEST_TIMEOUT_MS = 5_000;

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
  /** Shows the operator the token that setting up from another host needs. */
  announceSetupToken?: (token: string) => void;
}

/** Builds the service from its configuration, starts it, and returns when it accepts requests. */
export const startServer = async (
  config: Config,
  log: Logger,
  { clock = () => new Date(), addressPolicy, announceSetupToken = () => {} }: StartOptions = {},
): Promise<RunningServer> => {
  prepareDataDir(config.dataDir);
  const database = openDatabase(config);
  await migrate(database);
  const { kysely: db, transact } = database;
  const vault = await openStoreVault(database, config).catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  const resolver = createOriginResolver({
    store: originAddressStore(db),
    lookup: systemLookup,
    clock,
    timeoutMs: LOOKUP_TIMEOUT_MS,
  });
  await resolver.load();
  // The driver connects at once, before there is anybody to tell.
  let onEvent = (_event: DataPlaneEvent): void => {};
  const driver = createDataPlane({
    directory: proxyDirectory(config.dataDir),
    adminSocket: adminSocket(config.dataDir),
    haproxy: haproxyProgram(),
    onEvent: (event) => onEvent(event),
  });
  const reservedOrigin = createOriginGuard(() => [...ownListeners(config), { ...config.httpBind, port: boundPort() }]);
  const isOwnApi = createOwnOrigin(() => ({ ...config.httpBind, port: boundPort() }));
  const source = createRouteSource(db, vault);
  const plane = createPlane({ driver, source, resolver, reservedOrigin, isOwnApi, log });
  const metrics = createMetrics(plane.status);
  const fetch = createSafeFetch({ lookup: systemLookup, ...(addressPolicy ? { addressPolicy } : {}) });
  const boundPort = () => (app.server.address() as AddressInfo | null)?.port ?? config.httpBind.port;
  const localUrl = () => `http://${formatAddress(config.httpBind.host || 'localhost', boundPort())}`;
  const { sessionSecret } = config;
  const idempotency = createIdempotency({ db, store: idempotencyStore, vault, clock });
  const accounts = createAccounts({
    database,
    vault,
    sessionSecret,
    localUrl,
    fetch,
    clock,
    log,
    recorded: idempotency.recorded,
    settingChanged: (key) => suite.settingChanged(key),
    checkSetting: (...change) => suite.checkSetting(...change),
  });
  await accounts.audit.checkKey().catch((error: Error) => {
    throw new ConfigError([
      `SALLYPORT_ENCRYPTION_KEY, or encryption.key, is not the key of this store: ${error.message}`,
    ]);
  });
  const { record } = accounts;
  // With PostgreSQL another node may be answering them.
  if (database.kind === 'sqlite') await idempotency.forgetUnanswered();
  const enforcementPlane = createEnforcementPlane({ config, driver });
  registerUnjudgedMetrics(metrics.registry, enforcementPlane.unjudged);
  const suite = createSecuritySuite({
    isOwnApi,
    database,
    dataDir: config.dataDir,
    vault,
    fetch,
    checkDestination: createDestinationCheck({ lookup: systemLookup, addressPolicy }),
    sendMail: accounts.mailer.trySend,
    readSetting: accounts.settings.read,
    beginSecretAttempt: accounts.auth.beginSecretAttempt,
    noteFailure: accounts.auth.noteFailure,
    enforcementPlane,
    metrics,
    record,
    clock,
    log,
  });
  /** The guards learn of an access list before the route goes live, and may forget one after: no request gets past it, or stuck, in between. */
  const syncHosts = async (ids: readonly number[]): Promise<void> => {
    let routesAreLive: () => void;
    try {
      routesAreLive = await suite.enforcement.hostsChanged(ids);
    } catch (err) {
      log.error({ err }, 'the guards could not be told of a change');
      return plane.postponeHosts(ids, `the guards could not be told: ${(err as Error).message}`);
    }
    await plane.syncHosts(ids).finally(routesAreLive);
  };
  const surroundings = createHostSurroundings({
    db,
    modulesInForce: suite.enforcement.inForce,
    refusedUpgradeAt: suite.refusedUpgradeAt,
    clock,
  });
  const syncCertificates = (ids: readonly number[]): Promise<void> => {
    surroundings.certificatesChanged();
    return plane.syncCertificates(ids);
  };
  const common = { db, transact, record, clock };
  const app = await createApp({
    config,
    log,
    metrics,
    isProxyUp: createProxyPulse(adminSocket(config.dataDir)).isUp,
    identify: createIdentify(config.apiAuth, accounts.identities.resolve),
    clientAddress: createClientAddress(cidrSet(config.trustedProxies)),
    accounts,
    beginRequest: idempotency.begin,
    suite,
    proxyHosts: createProxyHosts({
      ...common,
      store: proxyHostStore,
      plane: { hostState: plane.hostState, syncHosts },
      reservedOrigin,
      surroundings: surroundings.of,
    }),
    remoteServers: createRemoteServers({
      ...common,
      store: remoteServerStore,
      connect: (host, port) => probeTcp(host, port, CONNECTION_TEST_TIMEOUT_MS),
    }),
    certificates: createCertificates({
      ...common,
      store: certificateStore,
      vault,
      plane: { certificateState: plane.certificateState, syncCertificates },
      backup: createBackupWriter({ db, dataDir: config.dataDir, clock }),
    }),
  });
  const retention = startRetention({
    audit: accounts.audit,
    retentionDays: async () => Number(await accounts.settings.read('audit.retention_days')),
    log,
  });
  const protection = await suite.start();
  // Before the first reconcile: what is committed during it is told, or read by it.
  const otherNodes = config.databaseUrl
    ? await listenForRoutes({
        database,
        url: config.databaseUrl,
        async onChanged({ hosts, certificates }) {
          if (certificates.length > 0) await syncCertificates(certificates);
          if (hosts.length > 0) await syncHosts(hosts);
        },
        onGap() {
          surroundings.certificatesChanged();
          return watch.reconcile();
        },
        log,
      })
    : undefined;
  const watch = watchDataPlane({ plane, log });
  onEvent = (event) => {
    watch.onEvent(event);
    // Another process may have started from files that lack the last moment's changes.
    if (event.type === 'connected')
      suite.enforcement.replay().catch((err: unknown) => log.error({ err }, 'replay failed'));
  };
  // Whoever is answered may change something, and a change waits for what is stored to be read once.
  const started = new AbortController();
  await Promise.race([
    plane.attempted,
    delay(READ_WITHIN_MS, undefined, { signal: started.signal }).catch(() => undefined),
  ]);
  started.abort();
  await app.listen({ host: config.httpBind.host || '::', port: config.httpBind.port });
  const path = apiSocket(config.dataDir);
  const door = await openProxyDoor({ server: app.server, path, mode: proxySocketMode(path) });
  await accounts.setup.announce(announceSetupToken);
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
        watch,
        protection,
        enforcementPlane,
        retention,
        driver,
        database,
      ]) {
        await part.stop().catch((err: unknown) => log.error({ err }, 'a part did not stop cleanly'));
      }
    },
  };
};
