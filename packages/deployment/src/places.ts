import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/**
 * Guards of a machine unless the operator says otherwise: one for every two cores, and never alone, so that one can be
 * replaced. One judges on one thread and has others for long bodies, and HAProxy needs the other half. Each takes some
 * 40 MB, and 100 with the Core Rule Set, whatever it has to do.
 */
export const defaultGuards = (): number => Math.max(2, Math.ceil(availableParallelism() / 2));

/** What the operator sets for good; the environment and flags are stronger. */
export const envFile = (dataDir: string): string => join(dataDir, '.env');

/** Files of one worker, absolute. */
export interface GuardFiles {
  /** SPOP, from HAProxy. */
  agent: string;
  /** HTTP, from HAProxy: requests with long bodies. */
  relay: string;
  /** Line protocol, from the server: see `startControl`. */
  control: string;
  /** What this worker has counted; outlives its process. */
  counters: string;
}

export const guardFiles = (dataDir: string, index: number): GuardFiles => ({
  agent: join(dataDir, 'run', `guard-${index}.sock`),
  relay: join(dataDir, 'run', `relay-${index}.sock`),
  control: join(dataDir, 'run', `guard-${index}.ctl`),
  counters: join(dataDir, 'run', `guard-${index}.counters`),
});

/** What the guards enforce, written by the server. */
export const guardConfigFile = (dataDir: string): string => join(dataDir, 'guard', 'config.json');

/** Where the server takes in what guards tell. */
export const logSocket = (dataDir: string): string => join(dataDir, 'run', 'log.sock');

/** Where the server takes in a line for every request, while somebody wants them. */
export const trafficSocket = (dataDir: string): string => join(dataDir, 'run', 'traffic.sock');

/** Where HAProxy brings what was asked of a host that forwards to the management API. */
export const apiSocket = (dataDir: string): string => join(dataDir, 'run', 'api.sock');

/** Where everything is that HAProxy reads, and its runtime socket. */
export const proxyDirectory = (dataDir: string): string => join(dataDir, 'haproxy');

/** HAProxy's runtime API of the worker, which serves. */
export const adminSocket = (dataDir: string): string => join(proxyDirectory(dataDir), 'admin.sock');

/** Where the relays hand judged requests back to HAProxy. */
export const returnSocket = (dataDir: string): string => join(dataDir, 'haproxy', 'relayed.sock');

/** Unlinked files with long bodies live here for the time of a request. */
export const spoolDirectory = (dataDir: string): string => join(dataDir, 'spool');

/** The question that HAProxy puts to the guards. */
export const spoeFile = (dataDir: string): string => join(dataDir, 'haproxy', 'spoe.cfg');

/** HAProxy's runtime API of the master process, which reloads. */
export const masterSocket = (dataDir: string): string => join(dataDir, 'haproxy', 'master.sock');

/** There while HAProxy tells of every request: haproxy.cfg depends on it. */
export const trafficFile = (dataDir: string): string => join(dataDir, 'haproxy', 'tells-traffic');

/** How many restores of the store this node has in force: another number than the store's means that one is to be followed. */
export const restoresFile = (dataDir: string): string => join(dataDir, 'haproxy', 'restores');

/** There while processes of HAProxy that a reload replaced may know hosts yet. */
export const unretiredFile = (dataDir: string): string => join(dataDir, 'haproxy', 'unretired');

/** The rate limit's window in seconds: the one part of the suite that haproxy.cfg depends on. */
export const windowFile = (dataDir: string): string => join(dataDir, 'haproxy', 'rate-limit-window');
