import type { RouteOptions } from 'fastify';
import { expect, test } from 'vitest';
import { onFastify } from '../testing/on-fastify.ts';
import { startApp } from '../testing/start-app.ts';
import { serializerOf } from './serialization.ts';
import { compileSchema } from './validation.ts';

const REQUEST_PARTS = ['body', 'querystring', 'params', 'headers'] as const;

test('every schema of every route compiles, though that is done when it is first needed', async () => {
  const routes: RouteOptions[] = [];
  const app = await onFastify(
    (fastify) => fastify.addHook('onRoute', (route) => void routes.push(route)),
    () => startApp('sqlite'),
  );
  await app.stop();
  const faults: string[] = [];
  let compiled = 0;
  const attempt = (where: string, compile: () => unknown) => {
    compiled += 1;
    try {
      compile();
    } catch (error) {
      faults.push(`${where}: ${(error as Error).message}`);
    }
  };
  for (const { method, url, schema = {} } of routes) {
    for (const part of REQUEST_PARTS) {
      const given = schema[part] as object | undefined;
      if (given) attempt(`${method} ${url} ${part}`, () => compileSchema(given, part));
    }
    for (const [status, answer] of Object.entries(schema.response ?? {})) {
      attempt(`${method} ${url} ${status}`, () => serializerOf(answer as object));
    }
  }
  expect(faults).toEqual([]);
  expect(compiled).toBeGreaterThan(routes.length);
  expect(() => compileSchema({ type: 'strnig' }, 'body')).toThrow();
});
