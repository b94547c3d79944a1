import type {
  CertificateChange,
  DesiredCertificate,
  DesiredFiles,
  DesiredHost,
  DesiredState,
  HostChange,
} from './desired.ts';

/** What became of one host or certificate: live in HAProxy (read back), or not, and why in words for the operator. */
export type Outcome = { applied: boolean; issue?: string };

/** Whether HAProxy can be steered at the moment. */
export type Connection =
  | { state: 'connected'; pid: number; version: string; startedAt: Date }
  | { state: 'disconnected'; reason: string };

/** What one full reconcile found and did. */
export type ReconcileReport = {
  /** False when HAProxy could not be reached: the files are written, the rest follows when it is back. */
  applied: boolean;
  issue?: string;
  durationMs: number;
  hosts: number;
  /** Names whose route had to change. */
  changedNames: number;
  /** Entries in HAProxy that differed from what it was last told. */
  driftedEntries: number;
  /** Why each host or certificate that was left out cannot be served, by id. */
  quarantinedHosts: ReadonlyMap<number, string>;
  quarantinedCertificates: ReadonlyMap<number, string>;
};

/** What HAProxy was last read back to hold. */
export type DataPlaneStatus = {
  connection: Connection;
  hosts: number;
  names: number;
  /** Grows with every change that was applied. */
  revision: number;
  /** Recent changes not yet folded into the base map. */
  overlayEntries: number;
  lastReconcileMs: number | null;
  quarantinedHosts: ReadonlyMap<number, string>;
  quarantinedCertificates: ReadonlyMap<number, string>;
};

export type ReconcileOptions = {
  /**
   * Asked when no change is under way: what became of hosts since `desired` was read, and all certificates, so that nothing
   * older than a change that was applied comes back. Without it nothing has changed.
   */
  latest?: () => Promise<{ hosts: readonly HostChange[]; certificates: Iterable<DesiredCertificate> }>;
  /** Called when changes may be applied on top of what is desired, which is long before everything is read back. */
  onIntended?: () => void;
};

/** Steers one HAProxy: keeps its maps, certificate list and certificates equal to the desired state, without a reload. */
export type DataPlane = {
  /**
   * Applies changes in order and answers when they are live (read back), or why not. A change that HAProxy could not
   * take because it is down is in the files and follows when it is back. Rejects only when a file cannot be written.
   */
  applyHosts(changes: readonly HostChange[]): Promise<Map<number, Outcome>>;
  applyCertificates(changes: readonly CertificateChange[]): Promise<Map<number, Outcome>>;
  /** Makes files and HAProxy equal to `desired`, whatever they hold now; while there is no HAProxy, the files. */
  reconcile(desired: DesiredState, options?: ReconcileOptions): Promise<ReconcileReport>;
  /**
   * Writes the files that HAProxy starts from. For a process that ends then: what was rendered is not kept, so that
   * nothing else may be asked of this data plane. What can't be served is left out.
   */
  render(desired: DesiredFiles): Promise<void>;
  /** How a host is to be served at the moment, whether HAProxy runs or not; undefined when nothing is served for it. */
  intended(id: number): DesiredHost | undefined;
  /** Reads from HAProxy whether every name of this host has its route. */
  readBack(id: number): Promise<Outcome>;
  /** Runs `reload` while no change is under way, so that the new process reads files that hold every acknowledged one. */
  reload(reload: () => Promise<void>): Promise<void>;
  status(): DataPlaneStatus;
  stop(): Promise<void>;
};
