export { type ChallengeAnswer, challengeEntry, isChallengeAnswer, isChallengeToken } from './config/challenges.ts';
export { everybodyCleared, judgedFlags, limitKey, switchKeys } from './config/enforced.ts';
export { dataPlaneFiles } from './config/layout.ts';
export { renderConfig } from './config/render-config.ts';
export { type ConfigSettings, defaultSettings, type GuardSettings, InvalidSetting } from './config/settings.ts';
export { createDataPlane, type DataPlaneEvent, type DataPlaneOptions } from './driver/create-data-plane.ts';
export { writeFileAtomically } from './files/atomic-file.ts';
export { removeLeftovers } from './files/leftovers.ts';
export { mapFileChunks } from './files/map-file.ts';
export { createSelfSignedCertificate } from './files/self-signed-certificate.ts';
export { writeStaticFiles } from './files/static-files.ts';
export type { Connection, DataPlane, DataPlaneStatus, Outcome, ReconcileReport } from './model/data-plane.ts';
export type {
  CertificateChange,
  DesiredCertificate,
  DesiredHost,
  DesiredState,
  HostChange,
  HostFlags,
  Origin,
} from './model/desired.ts';
export { routeFlags } from './routes/flags.ts';
export { type AdminSocket, createAdminSocket } from './runtime/admin-socket.ts';
export { createMapCommands, type MapCommands } from './runtime/maps.ts';
export { readProcessInfo } from './runtime/process-info.ts';
export { RuntimeRefused, RuntimeUnavailable } from './runtime/runtime-errors.ts';
export {
  type AnswerClass,
  answerClasses,
  readTrafficCounters,
  type TrafficCounters,
  type TrafficReading,
} from './runtime/traffic-counters.ts';
