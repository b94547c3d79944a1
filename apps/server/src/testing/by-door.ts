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
    const sent = request(
      {
        socketPath: apiSocket(dataDir),
        method,
        path: `/api/v1${path}`,
        headers: { 'content-type': 'application/json', ...headers },
      },
      (answer) =>
        void text(answer).then((content) => {
          resolve({ status: answer.statusCode ?? 0, body: JSON.parse(content) as T });
        }, reject),
    );
    sent.once('error', reject).end(JSON.stringify(body));
  });
