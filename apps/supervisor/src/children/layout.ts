import { join } from 'node:path';
import { adminSocket, masterSocket, proxyDirectory } from '@sallyport/deployment/places';
import { runDirectory } from '@sallyport/deployment/proxy-account';

/** Files of the data directory that the supervisor and its children agree on, absolute. */
export interface Layout {
  dataDir: string;
  lockFile: string;
  stateFile: string;
  /** Sockets that the children meet at. */
  runDir: string;
  haproxyConfig: string;
  /** HAProxy's runtime API, of the worker. */
  adminSocket: string;
  /** HAProxy's runtime API, of the master. */
  masterSocket: string;
}

export const layoutOf = (dataDir: string): Layout => ({
  dataDir,
  lockFile: join(dataDir, 'supervisor.lock'),
  stateFile: join(dataDir, 'supervisor.json'),
  runDir: runDirectory(dataDir),
  haproxyConfig: join(proxyDirectory(dataDir), 'haproxy.cfg'),
  adminSocket: adminSocket(dataDir),
  masterSocket: masterSocket(dataDir),
});
