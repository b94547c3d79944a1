import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createGiven } from '../testing/given-accounts.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp('sqlite');
});
afterAll(() => app.stop());

test('a stream ends with the session it was opened in, and no other', async () => {
  const given = createGiven(app);
  await given.administrator();
  const [leaving, staying] = [await given.caller(), await given.caller()];
  const open = async (headers: Record<string, string>) => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/api/v1/logs/live`, { headers });
    await once(socket, 'open');
    return socket;
  };
  const [ending, other] = [await open(leaving.headers), await open(staying.headers)];
  const closed = once(ending, 'close');
  await app.send('POST', '/auth/logout', undefined, leaving.headers);
  const [code, reason] = (await closed) as [number, Buffer];
  expect([code, String(reason)]).toEqual([1008, 'the session or token has ended']);
  expect(other.readyState).toBe(WebSocket.OPEN);
  other.close();
});
