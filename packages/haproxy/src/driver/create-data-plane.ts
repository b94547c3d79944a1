import { setTimeout as delay } from 'node:timers/promises';
import { dataPlaneFiles } from '../config/layout.ts';
import type { DataPlane, Outcome } from '../model/data-plane.ts';
import type { DesiredHost, HostChange } from '../model/desired.ts';
import type { HostTls } from '../reconcile/tls-entries.ts';
import { createAdminSocket } from '../runtime/admin-socket.ts';
import { createCertificateCommands } from '../runtime/certificates.ts';
import { followHaproxy } from '../runtime/connection.ts';
import { createMapCommands } from '../runtime/maps.ts';
import { createAttempts } from './attempts.ts';
import { createMutex } from './mutex.ts';
import { renderRoutes } from './render-routes.ts';
import { createRoutePlane } from './route-plane.ts';
import { quarantineForStart } from './startable.ts';
import { createTlsPlane } from './tls-plane.ts';

/** Something worth a log line; `err` is an Error. */
export type DataPlaneEvent =
  /** `isRepaired`: what it holds was made what is intended; not before the first reconcile. */
  | { type: 'connected'; pid: number; version: string; driftedEntries: number; isRepaired: boolean }
  | { type: 'disconnected'; reason: string }
  | { type: 'fold failed' | 'change failed'; err: unknown };

/** Where HAProxy runs and who hears of it; all paths absolute. */
export type DataPlaneOptions = {
  /** Directory of haproxy.cfg and everything it reads. */
  directory: string;
  adminSocket: string;
  onEvent?: (event: DataPlaneEvent) => void;
  /** Path of the haproxy binary, to try the files with while no HAProxy runs; without it they are not tried. */
  haproxy?: string;
  overlayLimit?: number;
  /** Below tune.bufsize, with room for the command itself. */
  payloadBytes?: number;
  /** Largest certificate with chain and key; one payload has to hold it, so below tune.bufsize too. */
  maxPemBytes?: number;
};

const hostId = (change: HostChange): number => (change.type === 'put' ? change.host.id : change.id);

const outcome = (issue: string | undefined): Outcome =>
  issue === undefined ? { applied: true } : { applied: false, issue };

/** Names that should be served after these changes. */
const namesOf = (changes: readonly HostChange[], refused: ReadonlyMap<number, string>): { name: string }[] =>
  changes.flatMap((change) =>
    change.type === 'put' && !refused.has(change.host.id) ? change.host.names.map((name) => ({ name })) : [],
  );

/** Connects to the HAProxy behind `adminSocket` as soon as there is one, and keeps following it. */
export const createDataPlane = (options: DataPlaneOptions): DataPlane => {
  const {
    directory,
    adminSocket,
    haproxy,
    onEvent = () => {},
    overlayLimit = 1_000,
    payloadBytes = 12_000,
    maxPemBytes = 15_000,
  } = options;
  const socket = createAdminSocket({ path: adminSocket });
  const bulkSocket = createAdminSocket({ path: adminSocket });
  const routes = createRoutePlane({
    directory,
    overlay: createMapCommands(socket, dataPlaneFiles.overlayMap),
    base: createMapCommands(socket, dataPlaneFiles.hostsMap),
    bulkBase: createMapCommands(bulkSocket, dataPlaneFiles.hostsMap),
    overlayLimit,
    payloadBytes,
    foldPause: () => delay(1),
  });
  const tls = createTlsPlane({
    directory,
    commands: createCertificateCommands(socket, dataPlaneFiles.crtList),
    maxPemBytes,
  });
  // Changes are short; folds and repairs of the base are long and let changes pass. Taken in the order bulk, change.
  const bulk = createMutex();
  const exclusively = createMutex();
  // More steps than this go through a fold: one command each would take longer.
  const largeChange = overlayLimit / 2;
  let revision = 0;
  let lastReconcileMs: number | null = null;
  let isFolding = false;
  let isKnown = false;

  const allHosts = (): Iterable<DesiredHost> => routes.hosts.values();

  const follower = followHaproxy({
    socketPath: adminSocket,
    socket: createAdminSocket({ path: adminSocket }),
    onConnected: async ({ pid, version }) => {
      // Before the first reconcile nothing is intended yet; a repair would empty a HAProxy that serves everything.
      const isRepaired = isKnown;
      const driftedEntries = isRepaired
        ? await bulk(async () => (await tls.repair(allHosts, exclusively)) + (await routes.repair(exclusively)))
        : 0;
      onEvent({ type: 'connected', pid, version, driftedEntries, isRepaired });
    },
    onDisconnected: (reason) => onEvent({ type: 'disconnected', reason }),
  });

  const foldInBackground = (): void => {
    if (isFolding) return;
    isFolding = true;
    void bulk(() => routes.fold(exclusively, { isVerified: false }))
      .catch((err: unknown) => onEvent({ type: 'fold failed', err }))
      .finally(() => {
        isFolding = false;
      });
  };

  const onFailed = (err: unknown): void => onEvent({ type: 'change failed', err });
  const { attempt, withLive } = createAttempts({ suspect: follower.suspect, onFailed });

  /** Takes changed hosts into the certificate list; returns whether it changed. */
  const changeTls = (changes: readonly HostChange[], before: readonly (DesiredHost | undefined)[]): boolean => {
    let hasChanged = false;
    for (const [index, change] of changes.entries()) {
      const effect = tls.changeHost(before[index], routes.hosts.get(hostId(change)));
      if (effect === 'all') {
        tls.resetEntries(routes.hosts.values());
        return true;
      }
      hasChanged ||= effect;
    }
    return hasChanged;
  };

  const missingCertificate = (host: DesiredHost | undefined): string | undefined =>
    host?.certificate == null || tls.has(host.certificate)
      ? undefined
      : `certificate ${host.certificate} is not there or cannot be served`;

  /** Without a binary the files are not tried. */
  const makeStartable = async (hosts: () => Iterable<HostTls>): Promise<void> => {
    if (haproxy !== undefined) await quarantineForStart({ haproxy, directory, tls, onFailed }, hosts);
  };

  return {
    async applyHosts(changes) {
      const { steps, refused, issue } = await exclusively(async () => {
        const before = changes.map((change) => routes.hosts.get(hostId(change)));
        const planned = await routes.plan(changes);
        const isTlsChanged = changeTls(changes, before);
        if (isTlsChanged) await tls.writeCrtList();
        const problem = await attempt(async () => {
          if (isTlsChanged) await tls.syncLines(allHosts);
          if (planned.steps.length <= largeChange) await routes.run(planned.steps);
          // What needs no command is read back all the same: that HAProxy holds it is not to be assumed.
          if (planned.steps.length === 0) await routes.verify(namesOf(changes, planned.refused));
        });
        return { ...planned, issue: problem };
      });
      let problem = issue;
      if (problem === undefined && steps.length > largeChange) {
        problem = await attempt(() => bulk(() => routes.fold(exclusively, { isVerified: true })));
      } else if (routes.needsFold) {
        foldInBackground();
      }
      if (problem === undefined) revision++;
      const outcomes = new Map<number, Outcome>();
      for (const change of changes) {
        const id = hostId(change);
        outcomes.set(id, outcome(refused.get(id) ?? problem ?? missingCertificate(routes.hosts.get(id))));
      }
      return outcomes;
    },

    applyCertificates: (changes) =>
      exclusively(async () => {
        const issue = await withLive((live) => tls.change(changes, allHosts, { live, exclusively: (task) => task() }));
        if (issue === undefined) revision++;
        return new Map(
          changes.map((change) => {
            const id = change.type === 'put' ? change.certificate.id : change.id;
            return [id, outcome(tls.refused.get(id) ?? issue)];
          }),
        );
      }),

    reconcile: (desired, { latest, onIntended = () => {} } = {}) =>
      bulk(async () => {
        const startedAt = performance.now();
        const intend = await routes.prepare(desired.hosts);
        // All at once is only what is intended. What takes long, because it is compared, written or asked of HAProxy, is
        // done in parts, between which changes pass.
        const { steps, changedNames, certificates } = await exclusively(async () => {
          const late = await latest?.();
          const planned = await intend(late?.hosts ?? []);
          isKnown = true;
          const all = late?.certificates ?? desired.certificates;
          return { ...planned, certificates: await tls.intend(all, routes.hosts.values()) };
        });
        onIntended();
        let driftedEntries = 0;
        const issue = await withLive(async (live) => {
          await tls.takeIntended(certificates, allHosts, { live, exclusively });
          await live(async () => {
            if (steps) await exclusively(() => routes.run(steps));
            driftedEntries = (await tls.repair(allHosts, exclusively)) + (await routes.repair(exclusively));
          });
        });
        if (issue === undefined) revision++;
        else await exclusively(() => makeStartable(allHosts));
        lastReconcileMs = performance.now() - startedAt;
        return {
          applied: issue === undefined,
          ...(issue === undefined ? {} : { issue }),
          durationMs: lastReconcileMs,
          hosts: routes.hosts.size,
          changedNames,
          driftedEntries,
          quarantinedHosts: new Map(routes.hosts.refused),
          quarantinedCertificates: new Map(tls.refused),
        };
      }),

    async render({ hosts, certificates }) {
      const rendered = await renderRoutes(directory, hosts);
      const changes = await tls.intend(certificates, rendered);
      await tls.takeIntended(changes, () => rendered, { live: async () => {}, exclusively });
      await makeStartable(() => rendered);
    },

    intended: (id) => routes.hosts.get(id),

    async readBack(id) {
      const host = routes.hosts.get(id);
      const refusal = routes.hosts.refused.get(id);
      if (refusal !== undefined || host === undefined) return { applied: false, issue: refusal ?? 'not known' };
      let isLive = false;
      const issue = await attempt(async () => {
        isLive = await routes.areLive(host.names);
      });
      if (issue !== undefined) return { applied: false, issue };
      return outcome(isLive ? missingCertificate(host) : 'HAProxy does not hold this route');
    },

    reload: (reload) =>
      bulk(() =>
        exclusively(async () => {
          await reload();
          follower.suspect('reloaded');
        }),
      ),

    status: () => ({
      connection: follower.connection,
      hosts: routes.hosts.size,
      names: routes.names,
      revision,
      overlayEntries: routes.overlaySize,
      lastReconcileMs,
      quarantinedHosts: new Map(routes.hosts.refused),
      quarantinedCertificates: new Map(tls.refused),
    }),

    async stop() {
      await follower.stop();
      await bulk(() => exclusively(async () => {}));
    },
  };
};
