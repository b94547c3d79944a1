import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CertificateChange, DataPlane, HostChange } from '@sallyport/haproxy';
import type { Logger } from 'pino';
import { createBatches } from '../batches.ts';
import { type AppliedState, createAppliedStates, isAway, PENDING } from './applied-states.ts';
import { createClosedHosts } from './closed-hosts.ts';
import { collectCertificates, collectEverything, type OpenedCertificate } from './collect.ts';
import { createDesiredHost, type DesiredHostDeps, NOWHERE } from './desired-host.ts';
import { createNamesInUse } from './names-in-use.ts';
import { createRestartWait } from './restart-wait.ts';
import type { CertificateSource, HostRoute, RouteSource } from './source.ts';

export interface PlaneDeps extends DesiredHostDeps {
  driver: DataPlane;
  source: RouteSource;
  log: Logger;
}

const CLOSED = 'it is closed until who may reach its new origin is known to all who judge';

/** Hosts that are gone through before others get their turn. */
const HOSTS_PER_TURN = 10_000;

/**
 * Keeps the data plane equal to the store. Changes are named by id and always read from the store when their turn
 * comes, so the order in which they are reported does not matter. Nothing here rejects because HAProxy is away.
 */
export const createPlane = ({ driver, source, log, ...deps }: PlaneDeps) => {
  const states = createAppliedStates();
  const names = createNamesInUse();
  const desired = createDesiredHost(deps);
  const restart = createRestartWait();
  const closed = createClosedHosts();
  let appliedRevision = 0;
  /** Of the newest change that is intended, applied or not. */
  let intendedRevision = 0;
  /** Settles with the first attempt to reconcile: before it the driver doesn't know what HAProxy holds. */
  const attempted = Promise.withResolvers<void>();
  let isReconciled = false;
  /** What changed since the running reconcile began to collect. */
  let changed = { hosts: new Set<number>(), certificates: new Set<number>() };
  /** Whether a change could not be taken along: only a reconcile makes up for it. */
  let isBehind = false;

  const inUse = (route: HostRoute) => {
    names.remember(route);
    return closed.has(route.id) ? { host: route.at(NOWHERE), issue: CLOSED } : desired(route);
  };

  const isMoving = (route: HostRoute): boolean => {
    const now = driver.intended(route.id)?.origin;
    const next = desired(route).host.origin;
    return now !== undefined && (now.address !== next.address || now.port !== next.port);
  };

  const openCertificate = (certificate: CertificateSource): OpenedCertificate | undefined => {
    const { id, version } = certificate;
    try {
      return { ...certificate.open(), version };
    } catch (error) {
      states.certificates.set(id, { version, state: states.because((error as Error).message) });
      return undefined;
    }
  };

  type Postpone = (ids: readonly number[], issue: string) => void;
  const postponeHosts: Postpone = (ids, issue) => {
    for (const id of ids) states.hosts.set(id, states.because(issue));
    isBehind = true;
  };
  const postponeCertificates: Postpone = (ids, issue) => {
    for (const id of ids) states.certificates.set(id, { state: states.because(issue) });
    isBehind = true;
  };

  /** Runs a change; one that can't be taken to the files or to HAProxy is stored all the same, and says why it waits. */
  const takeTo = async (postpone: Postpone, ids: readonly number[], change: () => Promise<void>): Promise<void> => {
    await attempted.promise;
    try {
      if (isReconciled) await change();
      else postpone(ids, 'the data plane could not be reconciled with the store yet');
    } catch (err) {
      log.error({ err }, 'the data plane did not take a change');
      postpone(ids, `the data plane did not take the change: ${(err as Error).message}`);
    }
  };

  const changeHosts = async (ids: readonly number[]): Promise<void> => {
    for (const id of ids) changed.hosts.add(id);
    const revision = await source.revision();
    const routes = new Map((await source.hostsById(ids)).map((route) => [route.id, route]));
    const issues = new Map<number, string>();
    const changes: HostChange[] = ids.map((id) => {
      const route = routes.get(id);
      if (!route) return { type: 'remove', id };
      const { host, issue } = inUse(route);
      if (issue !== undefined) issues.set(id, issue);
      return { type: 'put', host };
    });
    const outcomes = await driver.applyHosts(changes);
    intendedRevision = Math.max(intendedRevision, revision);
    let allApplied = true;
    for (const id of ids) {
      const issue = issues.get(id);
      const applied = states.of(outcomes.get(id));
      if (!outcomes.get(id)?.applied) allApplied = false;
      if (routes.has(id)) states.hosts.set(id, issue === undefined ? applied : states.because(issue));
      else states.hosts.delete(id);
    }
    if (allApplied) appliedRevision = Math.max(appliedRevision, revision);
    else if ([...outcomes.values()].some(({ issue }) => isAway(issue))) await restart.wait();
  };

  const changeCertificates = async (ids: readonly number[]): Promise<void> => {
    for (const id of ids) changed.certificates.add(id);
    const sources = new Map((await source.certificatesById(ids)).map((certificate) => [certificate.id, certificate]));
    const changes: CertificateChange[] = [];
    const opened: OpenedCertificate[] = [];
    for (const id of ids) {
      const stored = sources.get(id);
      const certificate = stored && openCertificate(stored);
      if (!certificate) changes.push({ type: 'remove', id });
      else {
        changes.push({ type: 'put', certificate });
        opened.push(certificate);
      }
    }
    const outcomes = await driver.applyCertificates(changes);
    for (const { id, version } of opened) {
      const outcome = outcomes.get(id);
      const state = states.of(outcome);
      const isRefused = outcome?.applied === false && !isAway(outcome.issue);
      states.certificates.set(id, { version, state: isRefused ? { ...state, refused: true } : state });
    }
    for (const id of ids) if (!sources.has(id)) states.certificates.delete(id);
  };

  /** Takes changes of these ids along with the next pass over HAProxy. */
  const batchesOf = (postpone: Postpone, change: (ids: readonly number[]) => Promise<void>) => {
    const batches = createBatches(
      () => new Set<number>(),
      (batch) => {
        const ids = [...batch];
        return takeTo(postpone, ids, () => change(ids));
      },
    );
    return (ids: readonly number[]): Promise<void> =>
      batches.enqueue((batch) => {
        for (const id of ids) batch.add(id);
      });
  };
  const applyHosts = batchesOf(postponeHosts, changeHosts);
  const applyCertificates = batchesOf(postponeCertificates, changeCertificates);

  const reconcileOnce = async (): Promise<void> => {
    const revision = await source.revision();
    names.begin();
    changed = { hosts: new Set(), certificates: new Set() };
    isBehind = false;
    const collected = await collectEverything({ source, desired: inUse, openCertificate, changed: () => changed });
    const report = await driver.reconcile(
      { hosts: collected.hosts.values(), certificates: collected.certificates },
      {
        latest: collected.latest,
        onIntended() {
          isReconciled = true;
          attempted.resolve();
        },
      },
    );
    names.finish();
    intendedRevision = Math.max(intendedRevision, revision);
    const intended = states.compared(report);
    const stateFor = (issue: string | undefined): AppliedState =>
      issue === undefined ? intended : states.because(issue);
    const present = new Set<number>();
    for (const id of collected.hosts.keys()) {
      present.add(id);
      if (present.size % HOSTS_PER_TURN === 0) await yieldToOthers();
      // Of what was changed meanwhile the change itself has told; if it had to wait for something, that is there now or soon.
      if (changed.hosts.has(id)) {
        isBehind ||= states.hosts.has(id) && !states.host(id).applied;
        continue;
      }
      states.hosts.set(id, stateFor(collected.issues.get(id) ?? report.quarantinedHosts.get(id)));
    }
    for (const id of states.hosts.keys()) if (!present.has(id) && !changed.hosts.has(id)) states.hosts.delete(id);
    for (const { id, version } of collected.certificates) {
      if (changed.certificates.has(id)) continue;
      states.certificates.set(id, { version, state: stateFor(report.quarantinedCertificates.get(id)) });
    }
    if (report.applied) {
      states.confirmed();
      appliedRevision = Math.max(appliedRevision, revision);
      restart.reconciled();
    }
    const { quarantinedHosts, quarantinedCertificates, ...counts } = report;
    const quarantined = { hosts: quarantinedHosts.size, certificates: quarantinedCertificates.size };
    // Comparing is routine; that HAProxy was not as it should have been is worth a line.
    log[report.driftedEntries > 0 ? 'info' : 'debug']({ ...counts, quarantined }, 'data plane reconciled');
  };

  const reconcile = async (): Promise<void> => {
    try {
      await reconcileOnce();
    } catch (error) {
      isBehind = true;
      throw error;
    } finally {
      names.end();
      attempted.resolve();
    }
  };

  return {
    /** Resolves when the hosts with these ids are live as stored (or gone), or when it is known why they aren't. */
    async syncHosts(ids: readonly number[]): Promise<void> {
      // A store that went away since the change was committed is met again, and told, when the routes are read.
      const routes = await source.hostsById(ids).catch(() => []);
      await deps.resolver.ensure(routes.map(({ originHost }) => originHost));
      await applyHosts(ids);
    },

    /** Of these hosts those whose stored routes ask less of the guards: `closed` are gone or off, `unlisted` have no access list. */
    async askingLess(ids: readonly number[]): Promise<Record<'closed' | 'unlisted', number[]>> {
      const routes = new Map((await source.hostsById(ids)).map((route) => [route.id, route]));
      const flags = (id: number) => routes.get(id)?.at(NOWHERE).flags;
      return {
        closed: ids.filter((id) => !flags(id)?.enabled),
        unlisted: ids.filter((id) => flags(id)?.enabled && !flags(id)?.access_list),
      };
    },

    /**
     * Has those of these hosts whose stored routes lead elsewhere than they do at the moment answer 503. What it resolves with lets
     * their routes go live. Rejects when the store can't be read.
     */
    async closeMoving(ids: readonly number[]): Promise<() => Promise<void>> {
      const routes = await source.hostsById(ids);
      await deps.resolver.ensure(routes.map(({ originHost }) => originHost));
      const moving = routes.filter(isMoving).map(({ id }) => id);
      const reopen = closed.close(moving);
      if (moving.length > 0) await applyHosts(moving);
      return async () => {
        reopen();
        if (moving.length > 0) await applyHosts(moving);
      };
    },

    /** Says of these hosts that they are not live as stored, and why; the next reconcile makes up for it. */
    postponeHosts,

    /** Whether something stored was not taken to the data plane and needs a reconcile. */
    isBehind: (): boolean => isBehind,

    syncCertificates: (ids: readonly number[]): Promise<void> => applyCertificates(ids),

    /**
     * Whether HAProxy was last read back to hold this route: not what was read back of it before, which it goes on holding for the
     * moment between a commit and its pass over HAProxy, here or on another node.
     */
    hostState(route: HostRoute): AppliedState {
      const state = states.host(route.id);
      const intended = state.applied ? driver.intended(route.id) : undefined;
      return intended === undefined || isDeepStrictEqual(intended, desired(route).host) ? state : PENDING;
    },
    certificateState: states.certificate,

    /** Resolves when changes can be taken: what is stored was read once, or could not be. */
    attempted: attempted.promise,

    /** Makes everything equal to the store: at start, and from time to time. */
    reconcile,

    /**
     * To be called when HAProxy was made to hold what is intended. That is all there is to do after it restarted, unless
     * something stored is not intended yet.
     */
    async confirm(): Promise<void> {
      // The driver calls itself connected a moment after it says so.
      await yieldToOthers();
      if (!isReconciled || isBehind) return reconcile();
      if (driver.status().connection.state !== 'connected') return;
      states.confirmed();
      appliedRevision = Math.max(appliedRevision, intendedRevision);
      restart.reconciled();
    },

    /**
     * To be called when HAProxy was met before anything was intended. A reconcile that reached it meanwhile made it equal;
     * only without one, or with something left over, everything is compared.
     */
    async catchUp(): Promise<void> {
      if (!isReconciled || isBehind || !states.isWhole()) await reconcile();
    },

    /** Writes what HAProxy starts from, for a process that ends then. */
    async render(): Promise<void> {
      async function* hosts() {
        for await (const portion of source.allHosts()) yield portion.map((route) => desired(route).host);
      }
      await driver.render({ hosts: hosts(), certificates: await collectCertificates({ source, openCertificate }) });
    },

    /** Looks up all origin names again and moves the routes whose address changed. */
    async refreshOrigins(): Promise<void> {
      const ids = names.hostsOf(await deps.resolver.refresh(names.names()));
      if (ids.length > 0) await applyHosts(ids);
    },

    /** Marks everything as not applied when the connection to HAProxy is lost. */
    lost: states.lost,

    status: () => ({
      ...driver.status(),
      appliedRevision,
      quarantined: states.countNotApplied(),
    }),
  };
};
export type Plane = ReturnType<typeof createPlane>;
