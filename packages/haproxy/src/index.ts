export { dataPlaneFiles } from './config/layout.ts';
export { renderConfig } from './config/render-config.ts';
export { type ConfigSettings, defaultSettings, InvalidSetting } from './config/settings.ts';
export { createDataPlane, type DataPlaneEvent, type DataPlaneOptions } from './driver/create-data-plane.ts';
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
export { writeStaticFiles } from './files/static-files.ts';
