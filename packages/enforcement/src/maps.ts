import { type AdminSocket, dataPlaneFiles } from '@sallyport/haproxy';
import { createEnforcementMap } from './live-map.ts';

/** The maps of a data directory that say what HAProxy enforces. */
export const createEnforcementMaps = (dataDir: string, socket: AdminSocket) => {
  const map = (file: string, heading: string) => createEnforcementMap({ dataDir, socket, file, heading });
  return {
    bans: map(dataPlaneFiles.bansMap, 'Banned networks, the decision that bans each, and everybody else at the end.'),
    whitelist: map(dataPlaneFiles.whitelistMap, 'Networks of administrators: nothing stops them.'),
    bypass: map(dataPlaneFiles.bypassMap, 'Networks whose requests are not counted.'),
    limits: map(dataPlaneFiles.limitsMap, 'Requests that a client may make in the window; 0: any number.'),
    switches: map(
      dataPlaneFiles.switchesMap,
      'What guards are not asked about, whether requests pass without them, and what they must have read.',
    ),
  };
};
