import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { answerDeadline, watchSilence } from '@sallyport/deployment/patience';
import { adminSocket, masterSocket } from '@sallyport/deployment/places';
import { createAdminSocket, readProcessInfo } from '@sallyport/haproxy';

const RELOAD_WITHIN_MS = 5_000;
const POLL_MS = 10;

const askMaster = (path: string, command: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ path }, () => socket.write(`${command}\n`));
    const watch = watchSilence(RELOAD_WITHIN_MS, () =>
      socket.destroy(new Error('the master of HAProxy does not answer')),
    );
    socket.on('data', watch.heard);
    socket.once('error', reject);
    // The master starts itself anew, and with that ends the connection.
    socket.once('close', () => {
      watch.stop();
      resolve();
    });
  });

/** Has HAProxy read haproxy.cfg anew, without refusing a connection. Rejects when no new process answers in 5 s. */
export const reloadHaproxy = async (dataDir: string): Promise<void> => {
  const socket = createAdminSocket({ path: adminSocket(dataDir) });
  const { pid } = await readProcessInfo(socket);
  await askMaster(masterSocket(dataDir), 'reload');
  const deadline = answerDeadline(RELOAD_WITHIN_MS);
  while (!deadline.aborted) {
    const info = await readProcessInfo(socket).catch(() => undefined);
    if (info && info.pid !== pid) return;
    await delay(POLL_MS);
  }
  throw new Error('HAProxy did not take the new configuration');
};
