import { connect } from 'node:net';
import { answerDeadline, watchSilence } from '@sallyport/deployment/patience';

// Not an import, which would load a second HTTP client (docs/decisions/0009-memory-at-rest.md).
const { request } = process.getBuiltinModule('node:http');

const answerWithinMs = 1_000;

/** Whether something answers `question`, a line, on a unix socket; anything it says counts. */
export const answersLine = (path: string, question: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => socket.write(`${question}\n`));
    // The whole of it: a socket that only accepts would be as good as none.
    const watch = watchSilence(answerWithinMs, () => socket.destroy());
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => {
      watch.stop();
      resolve(false);
    });
  });

/** Whether a URL is answered with a status of success. */
export const answersHttp = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    // Not fetch: that would keep a second HTTP client in memory.
    const asked = request(url, { agent: false, signal: answerDeadline(answerWithinMs) }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once('error', () => resolve(false));
    asked.once('close', () => resolve(false));
    asked.end();
  });
