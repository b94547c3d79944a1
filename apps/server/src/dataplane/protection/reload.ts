import { setTimeout as delay } from 'node:timers/promises';
import { answerDeadline } from '@sallyport/deployment/patience';
import { adminSocket } from '@sallyport/deployment/places';
import { createAdminSocket, readProcessInfo } from '@sallyport/haproxy';
import { askMaster } from './master.ts';

const RELOAD_WITHIN_MS = 5_000;
const POLL_MS = 10;

/** Has HAProxy read haproxy.cfg anew, without refusing a connection. Rejects when no new process answers in 5 s. */
export const reloadHaproxy = async (dataDir: string): Promise<void> => {
  const socket = createAdminSocket({ path: adminSocket(dataDir) });
  const { pid } = await readProcessInfo(socket);
  await askMaster(dataDir, 'reload');
  const deadline = answerDeadline(RELOAD_WITHIN_MS);
  while (!deadline.aborted) {
    const info = await readProcessInfo(socket).catch(() => undefined);
    if (info && info.pid !== pid) return;
    await delay(POLL_MS);
  }
  throw new Error('HAProxy did not take the new configuration');
};
