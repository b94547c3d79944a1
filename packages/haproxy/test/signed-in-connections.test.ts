import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { listen } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';

const challenged = new WeakSet<Socket>();
/** Signed in for all that follows, as with Kerberos. */
const kept = new WeakSet<Socket>();
const connections = new Set<number | undefined>();
let closed = 0;

/** Signs connections in, as NTLM does: a challenge, and its answer on the same connection. */
const answer = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
  await asked.toArray();
  const { socket, url, headers } = asked;
  connections.add(socket.remotePort);
  if (url === '/close') {
    closed++;
    socket.destroy();
  } else if (url === '/whoami') {
    if (headers.authorization === 'Negotiate token') kept.add(socket);
    response.end(kept.has(socket) ? 'somebody' : 'nobody');
  } else if (headers.authorization === 'NTLM answer' && challenged.has(socket)) {
    response.end('signed in');
  } else {
    if (headers.authorization === 'NTLM hello') challenged.add(socket);
    response.writeHead(401, { 'WWW-Authenticate': 'NTLM' }).end();
  }
};

let plane: RunningDataPlane;
let origin: { port: number; stop(): Promise<void> };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let session: ClientHttp2Session;
beforeAll(async () => {
  [plane, origin] = await Promise.all([startDataPlane({ threads: 1 }), listen(createServer(answer))]);
  await plane.serve(givenHost({ names: ['a.example.com'], origin: { port: origin.port } }));
  session = connectHttp2(`https://127.0.0.1:${plane.httpsPort}`, { rejectUnauthorized: false });
});
afterAll(async () => {
  agent.destroy();
  session.destroy();
  await plane.stop();
  void origin.stop();
});
beforeEach(() => connections.clear());

const overHttp1 = (method: string, authorization?: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = { host: 'a.example.com', ...(authorization === undefined ? {} : { authorization }) };
    const sent = request({ host: '127.0.0.1', port: plane.httpPort, agent, method, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    sent.once('error', reject).end(method === 'POST' ? 'x' : undefined);
  });

const overHttp2 = (method: string, path: string, more: Record<string, string> = {}) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, ':authority': 'a.example.com', ...more });
    const answered = { status: 0, body: '' };
    stream.once('response', (headers) => {
      answered.status = Number(headers[':status']);
    });
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      answered.body += chunk;
    });
    stream.once('error', reject).once('end', () => resolve(answered));
    stream.end(method === 'POST' ? 'x' : undefined);
  });

test('a POST signs its connection in, also on a used one', async () => {
  expect(await overHttp1('GET')).toBe(401);
  expect(await overHttp1('POST', 'NTLM hello')).toBe(401);
  expect(await overHttp1('POST', 'NTLM answer')).toBe(200);
});

test('who is asked to sign in again and again takes no connection more for each time', async () => {
  for (let count = 0; count < 10; count++) expect(await overHttp1('POST')).toBe(401);
  expect(connections.size).toBeLessThanOrEqual(2);
});

test('over HTTP/2 each has its own, and what must not be repeated runs once', async () => {
  for (let count = 0; count < 5; count++) expect(await overHttp2('POST', '/')).toMatchObject({ status: 401 });
  expect(connections.size).toBeLessThanOrEqual(5);
  expect(await overHttp2('POST', '/close')).toMatchObject({ status: 502 });
  expect(closed).toBe(1);
});

test.each(['GET', 'POST'])('nobody is signed in by a connection that a %s over HTTP/2 signed in', async (method) => {
  const whoAmI = async (more?: Record<string, string>) => (await overHttp2(method, '/whoami', more)).body;
  expect(await whoAmI()).toBe('nobody');
  expect(await whoAmI({ authorization: 'Negotiate token' })).toBe('somebody');
  expect((await overHttp2('GET', '/whoami')).body).toBe('nobody');
});
