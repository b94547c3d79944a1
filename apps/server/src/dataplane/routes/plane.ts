import { isIP } from 'node:net';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type {
  CertificateChange,
  DataPlane,
  DesiredCertificate,
  DesiredHost,
  HostChange,
  Outcome,
} from '@sallyport/haproxy';
import type { Logger } from 'pino';
import type { ReservedOrigin } from './origins/guard.ts';
import type { OriginResolver } from './origins/resolver.ts';
import { createRestartWait } from './restart-wait.ts';
import type { CertificateSource, HostRoute, RouteSource } from './source.ts';

/** What HAProxy was last read back to hold, and why it is not what is stored. */
export interface AppliedState {
  applied: boolean;
  issue: string | null;
}

export interface PlaneDeps {
  driver: DataPlane;
  source: RouteSource;
  resolver: OriginResolver;
  /** Why an address and port may not be an ordinary host's origin; undefined when it may. */
  reservedOrigin: ReservedOrigin;
  /** Whether an address and port are the management API's. */
  isOwnApi: (address: string, port: number) => boolean;
  log: Logger;
}

const APPLIED: AppliedState = { applied: true, issue: null };
const PENDING: AppliedState = { applied: false, issue: 'the data plane has not been read back yet' };

/**
 * An origin without an address still has a route, so that its visitors get the 503 page and not the 404 page.
 * Linux refuses to connect to the broadcast address at once.
 */
const NOWHERE = '255.255.255.255';

/** Hosts that are gone through before others get their turn. */
const HOSTS_PER_TURN = 10_000;

/** Intended and on disk; whether HAProxy holds it depends on nothing but HAProxy. */
const WAITING: AppliedState = { applied: false, issue: 'HAProxy is not running' };

const isAway = (issue: string | undefined): boolean => issue?.startsWith('HAProxy is not running') === true;

const stateOf = (outcome: Outcome | undefined): AppliedState => {
  if (!outcome) return PENDING;
  return outcome.applied ? APPLIED : { applied: false, issue: outcome.issue ?? 'the data plane does not say why' };
};

/** Gathers ids until the running batch is done, so that any number of callers wait for one pass over HAProxy. */
const createBatches = (run: (ids: readonly number[]) => Promise<void>) => {
  let waiting = new Set<number>();
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  return (ids: readonly number[]): Promise<void> => {
    for (const id of ids) waiting.add(id);
    // A batch that failed has told its own callers; the next one starts all the same.
    next ??= running
      .catch(() => {})
      .then(() => {
        const batch = [...waiting];
        waiting = new Set();
        next = undefined;
        running = run(batch);
        return running;
      });
    return next;
  };
};

/**
 * Keeps the data plane equal to the store. Changes are named by id and always read from the store when their turn
 * comes, so the order in which they are reported does not matter. Nothing here rejects because HAProxy is away.
 */
export const createPlane = ({ driver, source, resolver, reservedOrigin, isOwnApi, log }: PlaneDeps) => {
  const hostStates = new Map<number, AppliedState>();
  const certificateStates = new Map<number, AppliedState>();
  /** Hosts whose origin is given by name, to find them again when its address changes. */
  let hostsByName = new Map<string, Set<number>>();
  /** The same as the running reconcile finds it; until that is over, names that it has not come to are in use as well. */
  let collectedByName: Map<string, Set<number>> | undefined;
  let appliedRevision = 0;
  /** Settles with the first attempt to reconcile: before it the driver doesn't know what HAProxy holds. */
  const attempted = Promise.withResolvers<void>();
  let isReconciled = false;
  const restart = createRestartWait();
  /** What changed since the running reconcile began to collect: of these it may hold what was before. */
  let changedHosts = new Set<number>();
  let changedCertificates = new Set<number>();
  /** Whether a change could not be taken along: only a reconcile makes up for it. */
  let isBehind = false;
  let lost: AppliedState | undefined;

  /** Why HAProxy does not hold what is intended; undefined when it does. */
  let failure: string | undefined;
  /** Of the newest change that is intended, applied or not. */
  let intendedRevision = 0;

  const told = (state: AppliedState): AppliedState => {
    if (state !== WAITING) return state;
    return failure === undefined ? APPLIED : { applied: false, issue: failure };
  };
  const hostState = (id: number): AppliedState => lost ?? told(hostStates.get(id) ?? PENDING);

  const remember = ({ id, originHost }: HostRoute) => {
    if (isIP(originHost) !== 0) return;
    for (const byName of collectedByName ? [hostsByName, collectedByName] : [hostsByName]) {
      const ids = byName.get(originHost) ?? new Set();
      byName.set(originHost, ids.add(id));
    }
  };

  const desired = (route: HostRoute): { host: DesiredHost; issue: string | undefined } => {
    const resolution = resolver.known(route.originHost);
    if (!('address' in resolution)) return { host: route.at(NOWHERE), issue: resolution.issue };
    // Judged where it is used, because a name may come to mean another address at any time.
    const reason = route.mayReachReserved ? undefined : reservedOrigin(resolution.address, route.originPort);
    if (reason !== undefined) {
      const issue = `forward_host is ${reason}; an administrator can allow it (forward_reserved)`;
      return { host: route.at(NOWHERE), issue };
    }
    const host = route.at(resolution.address);
    const isOwn = isOwnApi(resolution.address, route.originPort);
    return { host: isOwn ? { ...host, flags: { ...host.flags, own_api: true } } : host, issue: undefined };
  };

  const openCertificate = (certificate: CertificateSource): DesiredCertificate | undefined => {
    try {
      return certificate.open();
    } catch (error) {
      certificateStates.set(certificate.id, { applied: false, issue: (error as Error).message });
      return undefined;
    }
  };

  const postpone = (states: Map<number, AppliedState>, ids: readonly number[], issue: string): void => {
    for (const id of ids) states.set(id, { applied: false, issue });
    isBehind = true;
  };

  /** Runs a change; one that can't be taken to the files or to HAProxy is stored all the same, and says why it waits. */
  const takeTo = async (
    states: Map<number, AppliedState>,
    ids: readonly number[],
    change: () => Promise<void>,
  ): Promise<void> => {
    await attempted.promise;
    try {
      if (isReconciled) await change();
      else postpone(states, ids, 'the data plane could not be reconciled with the store yet');
    } catch (err) {
      log.error({ err }, 'the data plane did not take a change');
      postpone(states, ids, `the data plane did not take the change: ${(err as Error).message}`);
    }
  };

  const changeHosts = async (ids: readonly number[]): Promise<void> => {
    for (const id of ids) changedHosts.add(id);
    const revision = await source.revision();
    const routes = new Map((await source.hostsById(ids)).map((route) => [route.id, route]));
    const issues = new Map<number, string>();
    const changes: HostChange[] = ids.map((id) => {
      const route = routes.get(id);
      if (!route) return { type: 'remove', id };
      remember(route);
      const { host, issue } = desired(route);
      if (issue !== undefined) issues.set(id, issue);
      return { type: 'put', host };
    });
    const outcomes = await driver.applyHosts(changes);
    intendedRevision = Math.max(intendedRevision, revision);
    let allApplied = true;
    for (const id of ids) {
      const issue = issues.get(id);
      const away = isAway(outcomes.get(id)?.issue);
      if (away) failure = outcomes.get(id)?.issue;
      const applied = away ? WAITING : stateOf(outcomes.get(id));
      const state = issue === undefined ? applied : { applied: false, issue };
      if (!outcomes.get(id)?.applied) allApplied = false;
      if (routes.has(id)) hostStates.set(id, state);
      else hostStates.delete(id);
    }
    if (allApplied) appliedRevision = Math.max(appliedRevision, revision);
    else if ([...outcomes.values()].some(({ issue }) => isAway(issue))) await restart.wait();
  };

  const changeCertificates = async (ids: readonly number[]): Promise<void> => {
    for (const id of ids) changedCertificates.add(id);
    const sources = new Map((await source.certificatesById(ids)).map((certificate) => [certificate.id, certificate]));
    const changes: CertificateChange[] = [];
    for (const id of ids) {
      const stored = sources.get(id);
      const certificate = stored && openCertificate(stored);
      if (certificate) changes.push({ type: 'put', certificate });
      else changes.push({ type: 'remove', id });
    }
    const outcomes = await driver.applyCertificates(changes);
    for (const change of changes) {
      const outcome = change.type === 'put' ? outcomes.get(change.certificate.id) : undefined;
      if (isAway(outcome?.issue)) failure = outcome?.issue;
      if (change.type === 'put')
        certificateStates.set(change.certificate.id, isAway(outcome?.issue) ? WAITING : stateOf(outcome));
      else if (!sources.has(change.id)) certificateStates.delete(change.id);
    }
  };

  const applyHosts = createBatches((ids) => takeTo(hostStates, ids, () => changeHosts(ids)));
  const applyCertificates = createBatches((ids) => takeTo(certificateStates, ids, () => changeCertificates(ids)));

  const collectCertificates = async (): Promise<DesiredCertificate[]> => {
    const certificates: DesiredCertificate[] = [];
    for (const stored of await source.allCertificates()) {
      const certificate = openCertificate(stored);
      if (certificate) certificates.push(certificate);
    }
    return certificates;
  };

  /** Everything the proxy should serve now; looks up no name, so that it does not wait for DNS. */
  const collect = async () => {
    const hosts = new Map<number, DesiredHost>();
    const issues = new Map<number, string>();
    const take = (route: HostRoute) => {
      remember(route);
      const { host, issue } = desired(route);
      hosts.set(host.id, host);
      if (issue === undefined) issues.delete(host.id);
      else issues.set(host.id, issue);
    };
    for await (const portion of source.allHosts()) {
      for (const route of portion) take(route);
      // A store in this process answers at once: nobody else would get a turn until all is read.
      await yieldToOthers();
    }
    const collected = { hosts, issues, certificates: await collectCertificates() };
    return {
      ...collected,
      /**
       * What changed meanwhile, as the store has it now. Run while no change is under way: any that was acknowledged is
       * in it, and none that comes after is undone by it.
       */
      async latest() {
        const ids = [...changedHosts];
        for (const id of ids) {
          hosts.delete(id);
          issues.delete(id);
        }
        for (const route of await source.hostsById(ids)) take(route);
        const changes = ids.map((id): HostChange => {
          const host = hosts.get(id);
          return host ? { type: 'put', host } : { type: 'remove', id };
        });
        if (changedCertificates.size > 0) collected.certificates = await collectCertificates();
        return { hosts: changes, certificates: collected.certificates };
      },
    };
  };

  const reconcileOnce = async (): Promise<void> => {
    const revision = await source.revision();
    collectedByName = new Map();
    changedHosts = new Set();
    changedCertificates = new Set();
    isBehind = false;
    const { hosts, issues, latest, ...collected } = await collect();
    let { certificates } = collected;
    const report = await driver.reconcile(
      { hosts: hosts.values(), certificates },
      {
        async latest() {
          const now = await latest();
          certificates = now.certificates;
          return now;
        },
        onIntended() {
          isReconciled = true;
          attempted.resolve();
        },
      },
    );
    hostsByName = collectedByName;
    intendedRevision = Math.max(intendedRevision, revision);
    failure = report.applied ? undefined : (report.issue ?? 'the data plane is not reachable');
    const intended = report.applied ? APPLIED : WAITING;
    const stateFor = (issue: string | undefined): AppliedState =>
      issue === undefined ? intended : { applied: false, issue };
    const present = new Set<number>();
    for (const id of hosts.keys()) {
      present.add(id);
      if (present.size % HOSTS_PER_TURN === 0) await yieldToOthers();
      // Of what was changed meanwhile the change itself has told; if it had to wait for something, that is there now or soon.
      if (changedHosts.has(id)) {
        isBehind ||= hostStates.has(id) && !hostState(id).applied;
        continue;
      }
      hostStates.set(id, stateFor(issues.get(id) ?? report.quarantinedHosts.get(id)));
    }
    for (const id of hostStates.keys()) if (!present.has(id) && !changedHosts.has(id)) hostStates.delete(id);
    for (const { id } of certificates) {
      if (changedCertificates.has(id)) continue;
      certificateStates.set(id, stateFor(report.quarantinedCertificates.get(id)));
    }
    if (report.applied) {
      appliedRevision = Math.max(appliedRevision, revision);
      lost = undefined;
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
      collectedByName = undefined;
      attempted.resolve();
    }
  };

  return {
    /** Resolves when the hosts with these ids are live as stored (or gone), or when it is known why they aren't. */
    async syncHosts(ids: readonly number[]): Promise<void> {
      // A store that went away since the change was committed is met again, and told, when the routes are read.
      const routes = await source.hostsById(ids).catch(() => []);
      await resolver.ensure(routes.map(({ originHost }) => originHost));
      await applyHosts(ids);
    },

    /** Says of these hosts that they are not live as stored, and why; the next reconcile makes up for it. */
    postponeHosts: (ids: readonly number[], issue: string): void => postpone(hostStates, ids, issue),

    /** Whether something stored was not taken to the data plane and needs a reconcile. */
    isBehind: (): boolean => isBehind,

    syncCertificates: (ids: readonly number[]): Promise<void> => applyCertificates(ids),

    hostState,
    certificateState: (id: number): AppliedState => lost ?? told(certificateStates.get(id) ?? PENDING),

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
      failure = undefined;
      lost = undefined;
      appliedRevision = Math.max(appliedRevision, intendedRevision);
      restart.reconciled();
    },

    /**
     * To be called when HAProxy was met before anything was intended. A reconcile that reached it meanwhile made it equal;
     * only without one, or with something left over, everything is compared.
     */
    async catchUp(): Promise<void> {
      if (!isReconciled || isBehind || failure !== undefined || lost !== undefined) await reconcile();
    },

    /** Writes what HAProxy starts from, for a process that ends then. */
    async render(): Promise<void> {
      async function* hosts() {
        for await (const portion of source.allHosts()) yield portion.map((route) => desired(route).host);
      }
      await driver.render({ hosts: hosts(), certificates: await collectCertificates() });
    },

    /** Looks up all origin names again and moves the routes whose address changed. */
    async refreshOrigins(): Promise<void> {
      const names = [...hostsByName.keys()];
      const changed = await resolver.refresh(names);
      const ids = new Set([...changed].flatMap((name) => [...(hostsByName.get(name) ?? [])]));
      if (ids.size > 0) await applyHosts([...ids]);
    },

    /** Marks everything as not applied when the connection to HAProxy is lost: what can't be read back isn't claimed. */
    lost(reason: string): void {
      lost = { applied: false, issue: reason };
    },

    status: () => ({
      ...driver.status(),
      appliedRevision,
      quarantined: [...hostStates.values()].filter((state) => !told(state).applied).length,
    }),
  };
};
export type Plane = ReturnType<typeof createPlane>;
