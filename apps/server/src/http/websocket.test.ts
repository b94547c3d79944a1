import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { App } from './app-type.ts';
import { registerErrorMapping } from './error-mapping.ts';
import { asksForWebSocket, registerWebSocket } from './websocket.ts';

/** A server that takes upgrades at `/live` and none at `/plain`. */
const given = async (work: (port: number, app: App) => Promise<void>) => {
  const app = Fastify() as unknown as App;
  registerErrorMapping(app as never, { answerPage: () => false });
  await registerWebSocket(app);
  app.route({
    ...{ method: 'GET', url: '/live', handler: async () => 'plain' },
    wsHandler: (socket) => void socket.send('welcome'),
  });
  app.get('/plain', async () => 'plain');
  await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    await work((app.server.address() as AddressInfo).port, app);
  } finally {
    await app.close();
  }
};

const open = async (port: number) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/live`);
  const [message] = (await once(socket, 'message')) as [Buffer];
  expect(String(message)).toBe('welcome');
  return socket;
};

const codeOf = async (closed: Promise<unknown[]>) => (await closed)[0];

test('only an upgrade to WebSocket is one', () => {
  const asks = (upgrade?: string) => asksForWebSocket({ headers: upgrade === undefined ? {} : { upgrade } });
  expect([asks('websocket'), asks('WebSocket'), asks('h2c'), asks()]).toEqual([true, true, false, false]);
});

test('a path that takes no upgrade says so, and answers as usual without one', () =>
  given(async (port) => {
    const refused = new WebSocket(`ws://127.0.0.1:${port}/plain`);
    const [, response] = (await once(refused, 'unexpected-response')) as [unknown, import('node:http').IncomingMessage];
    expect([response.statusCode, JSON.parse(await text(response))]).toEqual([
      ...[400, { error: 'This path takes no WebSocket upgrade', code: 400 }],
    ]);
    for (const path of ['/plain', '/live']) {
      expect(await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).toBe('plain');
    }
  }));

test('an upgrade that is none is answered with why', () =>
  given(async (port) => {
    const socket = connect(port, '127.0.0.1');
    const head = ['GET /live HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
    socket.write([...head, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: short', '', ''].join('\r\n'));
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('Sec-WebSocket-Key');
  }));

test('clients have nothing long to say, and nothing is compressed', () =>
  given(async (port) => {
    const [short, long] = [await open(port), await open(port)];
    expect(short.extensions).toBe('');
    short.send('x'.repeat(1_024));
    long.send('x'.repeat(1_025));
    expect(await codeOf(once(long, 'close'))).toBe(1009);
    expect(short.readyState).toBe(WebSocket.OPEN);
    short.terminate();
  }));

test('the end of the service is told to who listens, and not held up by who does not read', () =>
  given(async (port, app) => {
    const [reads, hangs] = [await open(port), await open(port)];
    const told = once(reads, 'close');
    hangs.pause();
    await app.close();
    expect(await codeOf(told)).toBe(1001);
    hangs.terminate();
  }));
