import { createConnection } from 'node:net';
import { watchSilence } from '@sallyport/deployment/patience';
import { masterSocket } from '@sallyport/deployment/places';

const SILENCE_MS = 5_000;

/**
 * Has HAProxy's master, or a worker of it (`@!PID …`), run a command; resolves with the answer, empty when the master starts itself anew
 * for it (HAProxy's management guide, Master CLI). Rejects after 5 s of silence, or when it can't be reached.
 */
export const askMaster = (dataDir: string, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ path: masterSocket(dataDir), allowHalfOpen: true });
    const watch = watchSilence(SILENCE_MS, () => socket.destroy(new Error('the master of HAProxy does not answer')));
    let answer = '';
    // It waits for another command until it hears that there is none.
    socket.end(`${command}\n`);
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
      watch.heard();
    });
    socket.once('error', reject);
    socket.once('close', () => {
      watch.stop();
      resolve(answer);
    });
  });
