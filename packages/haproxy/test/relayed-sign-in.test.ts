import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listen } from '../../../test/support/haproxy/origins.ts';
import { startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';

const signedIn = new WeakSet<Socket>();

/** Signs the connection in, as NTLM does; whoever comes over it from then on is let in. */
const answer = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
  await asked.toArray();
  const { authorization } = asked.headers;
  if (authorization !== undefined) signedIn.add(asked.socket);
  if (signedIn.has(asked.socket) && authorization !== 'Negotiate challenged') return void response.end('secret');
  response.writeHead(401, { 'WWW-Authenticate': 'Negotiate' }).end();
};

test('the relays take requests of many clients back on one connection: none of them is signed in for another', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sp-relayed-'));
  const returnSocket = join(directory, 'relayed.sock');
  const origin = await listen(createServer(answer));
  const plane = await startDataPlane({
    threads: 1,
    guard: {
      agents: [join(directory, 'guard.sock')],
      relays: [join(directory, 'relay.sock')],
      spoeFile: join(directory, 'spoe.cfg'),
      returnSocket,
      timeoutMs: 1000,
    },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const relay = (authorization?: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        host: 'a.example.com',
        'x-sallyport-route': `0|127.0.0.1|${origin.port}||7`,
        'x-sallyport-reference': 'one',
        'x-sallyport-client': '192.0.2.1',
        ...(authorization === undefined ? {} : { authorization }),
      };
      const sent = request({ socketPath: returnSocket, agent, headers }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      });
      sent.once('error', reject).end();
    });
  try {
    expect(await relay()).toBe(401);
    expect(await relay('Negotiate challenged')).toBe(401);
    expect(await relay()).toBe(401);
    expect(await relay('Negotiate accepted')).toBe(200);
    expect(await relay()).toBe(401);
  } finally {
    agent.destroy();
    await plane.stop();
    void origin.stop();
    await rm(directory, { recursive: true });
  }
});
