import type { Config } from '@sallyport/deployment/config';
import type { Listen } from '@sallyport/deployment/listen';
import { adminSocket, proxyDirectory } from '@sallyport/deployment/places';
import { createAdminSocket, createDataPlane, type DataPlaneEvent } from '@sallyport/haproxy';
import type { Database } from '@sallyport/store/database/open';
import type { Logger } from 'pino';
import { systemLookup } from '../net/system-lookup.ts';
import { ownDoors } from './own-doors.ts';
import { readHeldLines } from './protection/held-lines.ts';
import { createEnforcementPlane } from './protection/plane.ts';
import { createProxyPulse } from './proxy-pulse.ts';
import { haproxyProgram, ownListeners } from './proxy-settings.ts';
import { readTraffic } from './read-traffic.ts';
import { createOriginGuard, createOwnOrigin } from './routes/origins/guard.ts';
import { createOriginResolver } from './routes/origins/resolver.ts';
import { originAddressStore } from './routes/origins/store.ts';
import { createPlane } from './routes/plane.ts';
import type { RouteSource } from './routes/source.ts';
import { watchDataPlane } from './routes/watch.ts';

const LOOKUP_TIMEOUT_MS = 3_000;

export interface DataPlaneDeps {
  config: Config;
  database: Database;
  /** What is stored of routes and certificates. */
  stored: RouteSource;
  /** Where the management API listens, once it does. */
  ownAddress: () => Listen;
  clock: () => Date;
  log: Logger;
}

/** Wires this node's HAProxy: its routes, what it protects them with, and how it tells of itself. */
export const openDataPlane = async ({ config, database, stored, ownAddress, clock, log }: DataPlaneDeps) => {
  const socket = adminSocket(config.dataDir);
  const resolver = createOriginResolver({
    store: originAddressStore(database.kysely),
    lookup: systemLookup,
    clock,
    timeoutMs: LOOKUP_TIMEOUT_MS,
  });
  await resolver.load();
  // The driver connects at once, before there is anybody to tell.
  let onEvent = (_event: DataPlaneEvent): void => {};
  const driver = createDataPlane({
    directory: proxyDirectory(config.dataDir),
    adminSocket: socket,
    haproxy: haproxyProgram(),
    onEvent: (event) => onEvent(event),
  });
  const reservedOrigin = createOriginGuard(() => [...ownListeners(config), ownAddress()]);
  const isOwnApi = createOwnOrigin(ownAddress);
  const routes = createPlane({ driver, source: stored, resolver, reservedOrigin, isOwnApi, log });
  const protection = createEnforcementPlane({ config, driver });
  return {
    routes,
    protection,
    reservedOrigin,
    isOwnApi,
    /** Lines of its log that HAProxy still holds, told already or not. */
    heldLines: () => readHeldLines(createAdminSocket({ path: socket, silenceTimeoutMs: 1_000 })),
    /** What HAProxy tells of itself. */
    proxy: {
      status: routes.status,
      isUp: createProxyPulse(socket).isUp,
      unjudged: protection.unjudged,
      traffic: () => readTraffic(socket),
      doors: ownDoors(config),
    },

    /** Keeps HAProxy equal to the store until stopped; `connected` is called whenever one was met anew. */
    watch(connected: () => void) {
      const watch = watchDataPlane({ plane: routes, log });
      onEvent = (event) => {
        watch.onEvent(event);
        if (event.type === 'connected') connected();
      };
      return watch;
    },

    /** Makes all routes equal to the store once more; resolves with whether they are, unless there is no HAProxy to hold them. */
    async matches(watch: { reconcile(): Promise<void> }): Promise<boolean> {
      const revision = await stored.revision();
      await watch.reconcile();
      const { connection, appliedRevision } = routes.status();
      return !routes.isBehind() && (connection.state !== 'connected' || appliedRevision >= revision);
    },

    stop: driver.stop,
  };
};
