import { setTimeout as delay } from 'node:timers/promises';
import { dataPlaneFiles } from '../config/layout.ts';
import { createAdminSocket } from '../runtime/admin-socket.ts';
import { followHaproxy } from '../runtime/connection.ts';
import { createMapCommands } from '../runtime/maps.ts';
import { RuntimeUnavailable } from '../runtime/runtime-errors.ts';
import type { DataPlane, Outcome } from './data-plane.ts';
import { createMutex } from './mutex.ts';
import { createRoutePlane } from './route-plane.ts';

/** Something worth a log line; `err` is an Error. */
export type DataPlaneEvent =
  | { type: 'connected'; pid: number; version: string; driftedEntries: number }
  | { type: 'disconnected'; reason: string }
  | { type: 'fold failed' | 'change failed'; err: unknown };

export type DataPlaneOptions = {
  /** Directory of haproxy.cfg and everything it reads. */
  directory: string;
  adminSocket: string;
  onEvent?: (event: DataPlaneEvent) => void;
  overlayLimit?: number;
  /** Below tune.bufsize, with room for the command itself. */
  payloadBytes?: number;
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Connects to the HAProxy behind `adminSocket` as soon as there is one, and keeps following it. */
export const createDataPlane = (options: DataPlaneOptions): DataPlane => {
  const { directory, adminSocket, onEvent = () => {}, overlayLimit = 1_000, payloadBytes = 12_000 } = options;
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
  // Changes are short; folds and repairs of the base are long and let changes pass. Taken in the order bulk, change.
  const bulk = createMutex();
  const exclusively = createMutex();
  let revision = 0;
  let lastReconcileMs: number | null = null;
  let folding: Promise<void> | undefined;

  const follower = followHaproxy({
    socketPath: adminSocket,
    socket: createAdminSocket({ path: adminSocket }),
    onConnected: async ({ pid, version }) => {
      const driftedEntries = await bulk(() => exclusively(() => routes.repair()));
      onEvent({ type: 'connected', pid, version, driftedEntries });
    },
    onDisconnected: (reason) => onEvent({ type: 'disconnected', reason }),
  });

  /** Folds in the background or, for a change that is too large for the overlay, before it is answered. */
  const fold = (): Promise<void> => {
    folding ??= bulk(() => routes.fold(exclusively)).finally(() => {
      folding = undefined;
    });
    return folding;
  };

  const failure = (error: unknown): string => {
    const reason = messageOf(error);
    follower.suspect(reason);
    if (!(error instanceof RuntimeUnavailable)) onEvent({ type: 'change failed', err: error });
    return error instanceof RuntimeUnavailable ? `HAProxy is not running: ${reason}` : reason;
  };

  /** Runs commands; returns why they did not take effect, or undefined. */
  const attempt = async (commands: () => Promise<void>): Promise<string | undefined> => {
    try {
      await commands();
      return undefined;
    } catch (error) {
      return failure(error);
    }
  };

  return {
    async applyHosts(changes) {
      const { steps, refused, issue } = await exclusively(async () => {
        const planned = await routes.plan(changes);
        const isSmall = planned.steps.length <= overlayLimit / 2;
        return { ...planned, issue: isSmall ? await attempt(() => routes.run(planned.steps)) : undefined };
      });
      let problem = issue;
      if (steps.length > overlayLimit / 2) problem = await attempt(() => fold().then(() => routes.verify(steps)));
      else if (routes.needsFold) void fold().catch((err: unknown) => onEvent({ type: 'fold failed', err }));
      if (problem === undefined) revision++;
      const outcomes = new Map<number, Outcome>();
      for (const change of changes) {
        const id = change.type === 'put' ? change.host.id : change.id;
        const reason = refused.get(id) ?? problem;
        outcomes.set(id, reason === undefined ? { applied: true } : { applied: false, issue: reason });
      }
      return outcomes;
    },

    async applyCertificates(changes) {
      return new Map(
        changes.map((change) => [change.type === 'put' ? change.certificate.id : change.id, { applied: false }]),
      );
    },

    reconcile: (desired) =>
      bulk(() =>
        exclusively(async () => {
          const startedAt = performance.now();
          const { steps, changedNames } = await routes.reset(desired.hosts);
          let driftedEntries = 0;
          const issue = await attempt(async () => {
            if (steps) await routes.run(steps);
            driftedEntries = await routes.repair();
          });
          if (issue === undefined) revision++;
          lastReconcileMs = performance.now() - startedAt;
          return {
            applied: issue === undefined,
            ...(issue === undefined ? {} : { issue }),
            durationMs: lastReconcileMs,
            hosts: routes.hosts.size,
            changedNames,
            driftedEntries,
            changedCertificates: 0,
            quarantinedHosts: new Map(routes.hosts.refused),
            quarantinedCertificates: new Map(),
          };
        }),
      ),

    async readBack(id) {
      const host = routes.hosts.get(id);
      const refusal = routes.hosts.refused.get(id);
      if (refusal !== undefined || host === undefined) return { applied: false, issue: refusal ?? 'not known' };
      let isLive = false;
      const issue = await attempt(async () => {
        isLive = await routes.areLive(host.names);
      });
      if (issue !== undefined) return { applied: false, issue };
      return isLive ? { applied: true } : { applied: false, issue: 'HAProxy does not hold this route' };
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
      quarantinedCertificates: new Map(),
    }),

    async stop() {
      await follower.stop();
      await bulk(() => exclusively(async () => {}));
    },
  };
};
