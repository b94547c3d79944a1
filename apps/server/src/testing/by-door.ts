import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { apiSocket } from '@sallyport/deployment/places';
import type { TestApp } from './start-app.ts';

/** Sends JSON to a path below `/api/v1` as what came through our own proxy. */
export const sendByDoor = <T>(
  { dataDir }: TestApp,
  method: string,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<{ status: number; body: T }> =>
  new Promise((resolve, reject) => {
    const content = JSON.stringify(body);
    const sent = request(
      {
        socketPath: apiSocket(dataDir),
        method,
        path: `/api/v1${path}`,
        headers: {
          'content-type': 'application/json',
          // Said for every method: a DELETE would have none.
          'content-length': Buffer.byteLength(content),
          ...headers,
        },
      },
      (answer) =>
        void text(answer).then((told) => {
          resolve({ status: answer.statusCode ?? 0, body: JSON.parse(told) as T });
        }, reject),
    );
    sent.once('error', reject).end(content);
  });
