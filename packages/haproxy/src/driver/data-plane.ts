import type { CertificateChange, DesiredState, HostChange } from './desired.ts';

/** What became of one host or certificate: live in HAProxy, or not and why (in words for the operator). */
export type Outcome = { applied: true } | { applied: false; issue: string };

/** Why HAProxy cannot be steered at the moment, or that it can. */
export type Connection =
  | { state: 'connected'; pid: number; version: string; startedAt: number }
  | { state: 'disconnected'; reason: string };

/** What one full reconcile found and did; counts are map entries. */
export type ReconcileReport = {
  /** False when HAProxy could not be reached: the files are written, the rest follows when it is back. */
  applied: boolean;
  issue?: string;
  durationMs: number;
  hosts: number;
  added: number;
  changed: number;
  removed: number;
  certificatesAdded: number;
  certificatesRemoved: number;
  /** Outcome of every host and certificate that is not applied. */
  quarantinedHosts: ReadonlyMap<number, string>;
  quarantinedCertificates: ReadonlyMap<number, string>;
};

export type DataPlaneStatus = {
  connection: Connection;
  /** Hosts and names that HAProxy was read back to serve. */
  hosts: number;
  names: number;
  /** Grows with every applied change. */
  revision: number;
  overlayEntries: number;
  lastReconcileMs: number | null;
  quarantinedHosts: ReadonlyMap<number, string>;
  quarantinedCertificates: ReadonlyMap<number, string>;
};

/** Steers one HAProxy: keeps its maps, crt-list and certificates equal to the desired state, without a reload. */
export type DataPlane = {
  /** Applies changes in order and answers when they are live, read back from HAProxy. Never throws for a bad host. */
  applyHosts(changes: readonly HostChange[]): Promise<Map<number, Outcome>>;
  applyCertificates(changes: readonly CertificateChange[]): Promise<Map<number, Outcome>>;
  /** Makes files and HAProxy equal to `desired`, whatever they hold now. */
  reconcile(desired: DesiredState): Promise<ReconcileReport>;
  /** Writes every file HAProxy starts from, without talking to HAProxy. */
  writeFiles(desired: DesiredState): Promise<void>;
  status(): DataPlaneStatus;
  stop(): Promise<void>;
};
