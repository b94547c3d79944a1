/** The second tier of emergency recovery: resets the security suite whatever has become of the server. */
import { once } from 'node:events';
import { cidrSet } from '@sallyport/deployment/cidr';
import { parseConfig } from '@sallyport/deployment/config';
import { failureLines } from '@sallyport/deployment/failure-lines';
import { createLog, logOutput } from '@sallyport/deployment/log';
import { createDoor } from '@sallyport/recovery/door';
import { openProxy } from '@sallyport/recovery/open-proxy';
import { openPendingNote } from '@sallyport/recovery/pending';
import { createReset } from '@sallyport/recovery/reset';
import { createListener } from './listener.ts';
import { createPlaces } from './places.ts';
import { createEmergencyStore } from './store.ts';

/** Whoever opens more at once is no operator. */
const MOST_CONNECTIONS = { all: 64, perClient: 8, strangers: 16 };

const main = async (): Promise<void> => {
  process.umask(0o077);
  const config = parseConfig(process.env, process.cwd());
  const { dataDir, emergencyToken, emergencyBind, emergencyBasicAuth, managementCidrs } = config;
  if (!emergencyBind) throw new Error('SALLYPORT_EMERGENCY_BIND is not set');
  const log = createLog('emergency', config.logLevel, logOutput(config.logFormat));
  const store = createEmergencyStore(config, log);
  const reset = createReset({
    openProxy: () => openProxy(dataDir),
    switchOff: store.switchOff,
    note: openPendingNote(dataDir, 'emergency'),
    log,
  });
  const door = createDoor({ token: emergencyToken, managementCidrs, basicAuth: emergencyBasicAuth });
  const enter = createPlaces({ isManagement: cidrSet(managementCidrs), most: MOST_CONNECTIONS });
  const listener = createListener({ door, reset, note: store.note, enter, log });
  const stop = (): void => {
    listener.close();
    listener.closeAllConnections();
    void reset.stop().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  listener.listen(emergencyBind.port, emergencyBind.host || '::');
  await once(listener, 'listening');
  log.info({ address: listener.address() }, 'the emergency server listens');
};

main().catch((error: unknown) => {
  for (const line of failureLines(error)) process.stderr.write(`sallyport emergency: ${line}\n`);
  process.exit(1);
});
