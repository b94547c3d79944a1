import { expect, test } from 'vitest';
import { onFastify } from './testing/on-fastify.ts';
import { startApp } from './testing/start-app.ts';

test('a start is not given up because a plugin is slow: only the supervisor may say that it takes too long', async () => {
  const limits: unknown[] = [];
  const app = await onFastify(
    (fastify) => limits.push(fastify.initialConfig.pluginTimeout),
    () => startApp('sqlite'),
  );
  await app.stop();
  expect(limits).toEqual([0]);
});
