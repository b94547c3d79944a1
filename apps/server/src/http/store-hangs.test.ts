import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Postgres, startPostgres } from '../../../../test/support/start-postgres.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';

let postgres: Postgres;
let app: TestApp;

beforeAll(async () => {
  postgres = await startPostgres();
  app = await startApp('sqlite', { DATABASE_URL: postgres.url });
});
afterAll(async () => {
  await app.stop();
  await postgres.stop();
});

const host = (n: number) => ({ domain: `h${n}.example.com`, forward_host: '127.0.0.1', forward_port: 9_000 });

/** contract.md's bound for a store that does not answer is ten seconds; a busy machine has twice that. */
const inTime = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${app.url}/api/v1${path}`, {
    method,
    signal: AbortSignal.timeout(20_000),
    ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
  });
  return { status: response.status, body: (await response.json()) as { error: string; details?: string } };
};

test('a PostgreSQL that hangs is told within ten seconds, for reads and writes and more of them than there are connections', async () => {
  expect((await app.send('POST', '/proxy-hosts', host(0))).status).toBe(201);
  postgres.suspend();
  const answers = await Promise.all([
    ...Array.from({ length: 15 }, (_, n) => inTime('POST', '/proxy-hosts', host(n + 1))),
    inTime('GET', '/proxy-hosts'),
  ]);
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 503, body: { error: 'The database can not be reached' } });
  }
  expect(answers[0]?.body.details).toContain('read it back');
  expect(answers.at(-1)?.body.details).toBeUndefined();
  postgres.resume();
  await expect.poll(async () => (await app.send('POST', '/proxy-hosts', host(99))).status).toBe(201);
});
