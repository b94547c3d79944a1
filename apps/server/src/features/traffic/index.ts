import { hostname } from 'node:os';
import type { SettingKey } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import type { Plane } from '../../dataplane/routes/plane.ts';
import type { App } from '../../http/app-type.ts';
import type { SafeFetch } from '../../net/safe-fetch.ts';
import { systemLookup } from '../../net/system-lookup.ts';
import { probeTcp } from '../../net/tcp-probe.ts';
import type { DeclaredKinds, NamedCertificate } from '../declared.ts';
import type { Ground } from '../ground.ts';
import type { HostIntake } from '../host-intake.ts';
import type { Protection } from '../protection/index.ts';
import type { Reverters } from '../reverter.ts';
import type { System } from '../system/index.ts';
import { createChallenges } from './acme/challenges/service.ts';
import { createAcme } from './acme/index.ts';
import { certificateIssue, createBringInCertificates } from './certificates/bring-in.ts';
import { createCollect } from './certificates/collect/service.ts';
import { createPkcs12Reader } from './certificates/pkcs12/reader.ts';
import { createCertificateReverter } from './certificates/reverter.ts';
import { certificateRoutes, type ProvePassword } from './certificates/routes.ts';
import { createCertificates } from './certificates/service.ts';
import { certificateStore } from './certificates/store.ts';
import { createListContainers, networksOfThisMachine } from './containers/list.ts';
import { containerRoutes } from './containers/routes.ts';
import { createDnsProviderParts } from './dns-providers/create.ts';
import { createDnsProviderReverter } from './dns-providers/reverter.ts';
import { dnsProviderRoutes } from './dns-providers/routes.ts';
import { dnsProviderStore } from './dns-providers/store.ts';
import { internalCaRoutes } from './internal-ca/routes.ts';
import { createInternalCa } from './internal-ca/service.ts';
import { internalCaStore } from './internal-ca/store.ts';
import { createOriginTest } from './proxy-hosts/origin-test.ts';
import { createProxyHostReverter } from './proxy-hosts/reverter.ts';
import { proxyHostRoutes } from './proxy-hosts/routes.ts';
import { createProxyHosts, type ProxyHostDeps } from './proxy-hosts/service.ts';
import { proxyHostStore } from './proxy-hosts/store.ts';
import { createHostSurroundings } from './proxy-hosts/surroundings.ts';
import { createCheckWayIn, createKeepWayIn, type WayInDeps } from './proxy-hosts/way-in.ts';
import { createRemoteServerReverter } from './remote-servers/reverter.ts';
import { remoteServerRoutes } from './remote-servers/routes.ts';
import { createRemoteServers } from './remote-servers/service.ts';
import { remoteServerStore } from './remote-servers/store.ts';

/** Spec, contract.md: the connection test is a TCP connect with this limit. */
const CONNECTION_TEST_TIMEOUT_MS = 5_000;

export interface TrafficDeps {
  /** Where routes and certificates go live. */
  plane: Plane;
  /** A UUID by which other nodes on the same store know this one. */
  node: string;
  reservedOrigin: ProxyHostDeps['reservedOrigin'];
  protection: Pick<Protection, 'hostsChanged' | 'listedHosts' | 'inForce' | 'refusedUpgradeAt' | 'publish' | 'tell'>;
  isOwnApi: WayInDeps['isOwnApi'];
  backUp: System['backUp'];
  settings: Pick<System['settings'], 'read'>;
  metrics: Pick<System['metrics'], 'registry'>;
  /** Path of the socket of Docker or Podman; undefined: nobody is asked for containers. */
  dockerSocket: string | undefined;
  /** Reaches what administrators named, private addresses as well. */
  administratorsFetch: SafeFetch;
  provePassword: ProvePassword;
}

/** What people call this deployment: the host of its public URL, else of this machine. */
const placeOf = (publicUrl: string): string => (URL.canParse(publicUrl) ? new URL(publicUrl).hostname : hostname());

/** Wires what is proxied to where: proxy hosts, remote servers, certificates. */
export const createTraffic = (
  ground: Ground,
  {
    plane,
    node,
    reservedOrigin,
    protection,
    isOwnApi,
    backUp,
    settings,
    metrics,
    dockerSocket,
    administratorsFetch,
    provePassword,
  }: TrafficDeps,
) => {
  const { dataDir, database, vault, record, recordMany, clock, log } = ground;
  const { kysely: db, transact, transactAside } = database;
  const common = { db, transact, record, clock };
  const surroundings = createHostSurroundings({
    db,
    modulesInForce: protection.inForce,
    refusedUpgradeAt: protection.refusedUpgradeAt,
    autoCertificates: (hosts) => acme.warningsOf(hosts),
    clock,
  });

  /** Routes that must not ask any more, or serve, before the guards forget what they judge them by. */
  const firstOf = async (ids: readonly number[]): Promise<number[]> => {
    // A store that went away is met again by whoever reads it next.
    const { closed, unlisted } = await plane.askingLess(ids).catch(() => ({ closed: [], unlisted: [] }));
    return [...closed, ...protection.listedHosts(unlisted)];
  };

  /**
   * The guards learn of an access list before the route goes live, and forget one after the route asks for it no more, or is gone:
   * no request gets past it, or stuck, in between.
   */
  const syncRoutes = async (ids: readonly number[]): Promise<void> => {
    const first = await firstOf(ids);
    if (first.length > 0) await plane.syncHosts(first);
    let routesAreLive: () => void;
    try {
      routesAreLive = await protection.hostsChanged(ids);
    } catch (err) {
      log.error({ err }, 'the guards could not be told of a change');
      return plane.postponeHosts(ids, `the guards could not be told: ${(err as Error).message}`);
    }
    const rest = ids.filter((id) => !first.includes(id));
    if (rest.length === 0) return routesAreLive();
    await plane.syncHosts(rest).finally(routesAreLive);
  };
  const syncHosts = (ids: readonly number[]): Promise<void> => {
    acme.hostsChanged();
    return syncRoutes(ids);
  };
  const syncCertificates = (ids: readonly number[]): Promise<void> => {
    surroundings.certificatesChanged();
    return plane.syncCertificates(ids);
  };

  type Changed = Parameters<HostIntake['sync']>[0];
  const syncChanged = async ({ hosts, certificates: changed }: Changed): Promise<void> => {
    if (changed.length > 0) await syncCertificates(changed);
    if (hosts.length > 0) await syncHosts(hosts);
  };

  const proxyHosts = createProxyHosts({
    ...common,
    recordMany,
    store: proxyHostStore,
    plane: { hostState: plane.hostState, syncHosts },
    reservedOrigin,
    surroundings: surroundings.of,
    checkWayIn: createCheckWayIn({ isOwnApi }),
  });
  const testOrigin = createOriginTest({ transact, lookup: systemLookup, reservedOrigin, record, clock });
  const remoteServers = createRemoteServers({
    ...common,
    store: remoteServerStore,
    connect: (host, port) => probeTcp(host, port, CONNECTION_TEST_TIMEOUT_MS),
  });
  const listContainers = createListContainers({ socketPath: dockerSocket, ownNetworks: networksOfThisMachine });
  const certificates = createCertificates({
    ...common,
    transactAside,
    store: certificateStore,
    vault,
    plane: { certificateState: plane.certificateState, syncCertificates },
    backUp,
  });

  const readPkcs12 = createPkcs12Reader();
  const collect = createCollect({
    readPkcs12,
    transact,
    store: certificateStore,
    create: certificates.within.create,
    plane: { syncCertificates },
    clock,
  });

  const internalCa = createInternalCa({
    ...common,
    transactAside,
    store: internalCaStore,
    vault,
    place: async () => placeOf(await settings.read('app.public_url')),
    renewAll: (tx) => acme.renewInternal(tx),
    nudge: () => acme.nudge(),
    backUp,
  });

  const keepingWayIn = createKeepWayIn({ store: proxyHostStore, isOwnApi });
  const challenges = createChallenges({ dataDir, database, node, clock, log });

  const {
    providers: dnsProviders,
    writer: records,
    nameServers,
  } = createDnsProviderParts(ground, {
    resolvers: () => settings.read('acme.dns_resolvers'),
    fetch: administratorsFetch,
  });
  const acme = createAcme(ground, {
    setting: settings.read,
    node,
    certificates,
    plane: { certificateState: plane.certificateState, syncCertificates },
    challenges,
    dns: {
      find: (executor, named) => dnsProviderStore(executor).find(named),
      named: (executor, name) => dnsProviderStore(executor).named(name),
      access: dnsProviders.access,
      records,
      nameServers,
      tryRecord: dnsProviders.tryFor,
    },
    internalCa,
    publish: protection.publish,
    tell: protection.tell,
    registry: metrics.registry,
    provePassword,
  });

  const reverters = {
    'proxy-hosts': createProxyHostReverter(proxyHosts, { syncHosts }),
    'remote-servers': createRemoteServerReverter(remoteServers),
    'dns-providers': createDnsProviderReverter(dnsProviders),
    certificates: createCertificateReverter(certificates, { syncCertificates }),
  } satisfies Reverters;

  return {
    reverters,

    /** What can be configured as code. */
    declared: {
      'proxy-hosts': { ...reverters['proxy-hosts'], all: async (tx) => (await proxyHostStore(tx).list()).rows },
      'remote-servers': {
        ...reverters['remote-servers'],
        all: async (tx) => (await remoteServerStore(tx).list({}, undefined)).rows,
      },
    } satisfies Pick<DeclaredKinds, 'proxy-hosts' | 'remote-servers'>,

    /** Certificates by what they are called, without their keys. */
    namedCertificates: async (tx: Executor): Promise<NamedCertificate[]> =>
      (await certificateStore(tx).list()).map(({ id, uuid, name, domains }) => ({ id, uuid, name, domains })),

    /** For hosts that come from elsewhere, many at once. */
    intake: {
      wouldBe: proxyHosts.wouldBe,
      ownersByName: proxyHosts.ownersByName,
      bringIn: proxyHosts.within.bringIn,
      certificateIssue,
      bringInCertificates: createBringInCertificates({
        store: certificateStore,
        create: certificates.within.create,
        clock,
      }),
      sync: syncChanged,
      keepingWayIn,
    } satisfies Omit<HostIntake, 'isJudged' | 'bringInLists'>,

    challenges,

    /** To be told of settings that changed. */
    settingChanged(key: SettingKey): void {
      if (key.startsWith('acme.')) acme.hostsChanged();
    },

    /** Works at certificates that are due until stopped. */
    startOrders: acme.start,

    /** To be told of what another node changed: takes it to the data plane. */
    changedElsewhere: syncChanged,

    /** To be told when another node may have changed anything: what is known of certificates is read anew. */
    forget: surroundings.certificatesChanged,

    async routes(app: App): Promise<void> {
      await proxyHostRoutes(proxyHosts, testOrigin)(app);
      await remoteServerRoutes(remoteServers)(app);
      await containerRoutes(listContainers)(app);
      await internalCaRoutes(internalCa)(app);
      await dnsProviderRoutes(dnsProviders)(app);
      await certificateRoutes(certificates, { collect, provePassword, readPkcs12 })(app);
      await acme.routes(app);
    },
  };
};
export type Traffic = ReturnType<typeof createTraffic>;
