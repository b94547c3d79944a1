import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { apiSocket } from '@sallyport/deployment/places';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { createGiven } from '../testing/given-accounts.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';
import { isFromProxy, openProxyDoor } from './proxy-door.ts';

let app: TestApp;
let given: ReturnType<typeof createGiven>;
beforeAll(async () => {
  app = await startApp('sqlite', { SALLYPORT_TRUSTED_PROXIES: '' });
  given = createGiven(app);
});
afterAll(() => app.stop());

/** Fails to sign in; the audit log keeps from where. */
const attempt = (where: object, email: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        ...where,
        method: 'POST',
        path: '/api/v1/auth/login',
        headers: { 'content-type': 'application/json', ...headers },
      },
      (answer) => void text(answer).then(() => resolve(answer.statusCode ?? 0), reject),
    );
    sent.once('error', reject).end(JSON.stringify({ email, password: 'wrong password' }));
  });

const auditedAddress = async (email: string): Promise<unknown> => {
  const { headers } = await given.administrator();
  const { body } = await app.send<{ ip: string }[]>('GET', '/audit-logs?per_page=100', undefined, headers);
  return (Array.isArray(body) ? body : []).find((entry) => JSON.stringify(entry).includes(email))?.ip;
};

test('who comes by the door is whom the data plane names', async () => {
  const door = { socketPath: apiSocket(app.dataDir) };
  expect(await attempt(door, 'door@example.com', { 'x-real-ip': '203.0.113.9' })).toBe(401);
  expect(await auditedAddress('door@example.com')).toBe('203.0.113.9');
});

test('a process of this machine that connects by TCP cannot choose its address', async () => {
  const { hostname, port } = new URL(app.url);
  const headers = { 'x-sallyport-proxied': '1', 'x-real-ip': '203.0.113.9', 'x-forwarded-for': '203.0.113.9' };
  expect(await attempt({ hostname, port }, 'tcp@example.com', headers)).toBe(401);
  expect(await auditedAddress('tcp@example.com')).toBe('127.0.0.1');
});

test('nobody who comes by the door is local', async () => {
  const status = await new Promise((resolve, reject) => {
    const sent = request(
      { socketPath: apiSocket(app.dataDir), path: '/api/v1/proxy-hosts', headers: { host: '127.0.0.1:8080' } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    );
    sent.once('error', reject).end();
  });
  expect(status).toBe(401);
});

test('the door is where a process that was killed had it, for who may come, and its end leaves what is open', () =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'door.sock');
    writeFileSync(path, 'left behind');
    const server = createServer((message, answer) => void answer.end(String(isFromProxy(message.socket))));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const door = await openProxyDoor({ server, path, mode: 0o660 });
    expect(statSync(path).mode & 0o777).toBe(0o660);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (where: object): Promise<string> =>
      new Promise((resolve, reject) => {
        const sent = request(where, (answer) => void text(answer).then(resolve, reject));
        sent.once('error', reject).end();
      });
    expect(await ask({ socketPath: path, agent })).toBe('true');
    expect(await ask({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })).toBe('false');
    await door.stop();
    // By the connection that is open; another finds no door.
    expect(await ask({ socketPath: path, agent })).toBe('true');
    await expect(ask({ socketPath: path })).rejects.toThrow(/ENOENT|ECONNREFUSED/);
    agent.destroy();
    server.close();
    const elsewhere = openProxyDoor({ server, path: join(directory, 'no', 'door.sock'), mode: 0o660 });
    await expect(elsewhere).rejects.toThrow(/ENOENT|EACCES/);
  }));
