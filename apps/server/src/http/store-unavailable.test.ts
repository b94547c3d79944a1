import { expect, test } from 'vitest';
import { startApp } from '../testing/start-app.ts';

test('answers 503, not a fault of its own, while PostgreSQL is gone', async () => {
  const app = await startApp('postgres');
  try {
    expect((await app.send('GET', '/proxy-hosts')).status).toBe(200);
    await app.dropDatabase();
    expect(await app.send('GET', '/proxy-hosts')).toMatchObject({
      status: 503,
      body: { error: 'The database can not be reached', code: 503 },
    });
    expect((await app.send('GET', '/health')).status).toBe(200);
  } finally {
    await app.stop();
  }
});
