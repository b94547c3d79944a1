import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { apiSocket } from '@sallyport/deployment/places';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGiven } from '../testing/given-accounts.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';

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
