import type { CertificateChange, DataPlane, HostChange, Outcome } from '@sallyport/haproxy';

const REASON = 'HAProxy is not running';

/** The data plane of a server that has none to steer: everything stays stored and nothing is claimed to be applied. */
export const createDetachedDriver = (): DataPlane => {
  const refused: Outcome = { applied: false, issue: REASON };
  return {
    applyHosts: async (changes: readonly HostChange[]) =>
      new Map(changes.map((change) => [change.type === 'put' ? change.host.id : change.id, refused])),
    applyCertificates: async (changes: readonly CertificateChange[]) =>
      new Map(changes.map((change) => [change.type === 'put' ? change.certificate.id : change.id, refused])),
    reconcile: async () => ({
      applied: false,
      issue: REASON,
      durationMs: 0,
      hosts: 0,
      added: 0,
      changed: 0,
      removed: 0,
      certificatesAdded: 0,
      certificatesRemoved: 0,
      quarantinedHosts: new Map(),
      quarantinedCertificates: new Map(),
    }),
    writeFiles: async () => {},
    status: () => ({
      connection: { state: 'disconnected', reason: REASON },
      hosts: 0,
      names: 0,
      revision: 0,
      overlayEntries: 0,
      lastReconcileMs: null,
      quarantinedHosts: new Map(),
      quarantinedCertificates: new Map(),
    }),
    stop: async () => {},
  };
};
