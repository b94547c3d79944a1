import { setTimeout as delay } from 'node:timers/promises';
import { answerDeadline } from '@sallyport/deployment/patience';
import { adminSocket } from '@sallyport/deployment/places';
import { createAdminSocket, readProcessInfo } from '@sallyport/haproxy';
import { askMaster } from './master.ts';

const RELOAD_WITHIN_MS = 5_000;
const MASTER_WITHIN_MS = 1_000;
const POLL_MS = 10;

const isAbsent = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Asks the master. Where HAProxy has just started, its worker may answer before its master listens. */
const askForReload = async (dataDir: string): Promise<void> => {
  const deadline = answerDeadline(MASTER_WITHIN_MS);
  for (;;) {
    try {
      await askMaster(dataDir, 'reload');
      return;
    } catch (error) {
      if (!isAbsent(error) || deadline.aborted) throw error;
      await delay(POLL_MS);
    }
  }
};

/** Has HAProxy read haproxy.cfg anew, without refusing a connection. Rejects when no new process answers in 5 s. */
export const reloadHaproxy = async (dataDir: string): Promise<void> => {
  const socket = createAdminSocket({ path: adminSocket(dataDir) });
  const { pid } = await readProcessInfo(socket);
  await askForReload(dataDir);
  const deadline = answerDeadline(RELOAD_WITHIN_MS);
  while (!deadline.aborted) {
    const info = await readProcessInfo(socket).catch(() => undefined);
    if (info && info.pid !== pid) return;
    await delay(POLL_MS);
  }
  throw new Error('HAProxy did not take the new configuration');
};
