export type { Connection, DataPlane, DataPlaneStatus, Outcome, ReconcileReport } from './driver/data-plane.ts';
export type {
  CertificateChange,
  DesiredCertificate,
  DesiredHost,
  DesiredState,
  HostChange,
  HostFlags,
  Origin,
} from './driver/desired.ts';
