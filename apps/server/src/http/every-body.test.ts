import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, createGiven } from '../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../testing/start-app.ts';

interface Operation {
  requestBody?: { required: boolean; content: { 'application/json'?: { schema: { $ref: string } } } };
}
interface Document {
  components: { schemas: Record<string, { properties: Record<string, unknown> }> };
  paths: Record<string, Record<string, Operation>>;
}

const RUNS_A_ROUTE = 25;

/** Strings that parsers and stores have stumbled over, beside random ones. */
const oddString = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    "'; drop table users;--",
    '{{7*7}}',
    '../../etc/passwd',
    '%00',
    '1e999',
    '٣',
    'a'.repeat(9_000),
  ),
  fc.emailAddress(),
  fc.webUrl(),
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom('admin', 'user', 'active', 'true', 'block', '2026-01-01T00:00:00Z', '10.0.0.0/8'),
);
const oddValue = fc.oneof(
  { weight: 4, arbitrary: oddString },
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 2 ** 31, 2 ** 53, -0, 1e308, [], {}, [null], {
    a: { b: [] },
  }),
  fc.integer(),
  fc.array(oddString, { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 3 }),
);

const bodyOf = (names: readonly string[]) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record(Object.fromEntries(names.map((name) => [name, oddValue])), { requiredKeys: [] }),
    },
    { weight: 1, arbitrary: fc.dictionary(fc.string(), oddValue, { maxKeys: 4 }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );

onBothDatabases('every route that takes a body', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let routes: { method: string; path: string; names: string[]; isRequired: boolean }[];

  beforeAll(async () => {
    app = await startApp(kind);
    admin = await createGiven(app).administrator();
    const { body } = await app.send<Document>('GET', '/openapi.json');
    const namesOf = ({ $ref }: { $ref: string }): string[] => {
      const name = $ref.replace('#/components/schemas/', '');
      return Object.keys(body.components.schemas[name]?.properties ?? {});
    };
    routes = Object.entries(body.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { requestBody }]) => {
        const schema = requestBody?.content['application/json']?.schema;
        const isRequired = requestBody?.required === true;
        return schema ? [{ method: method.toUpperCase(), path, names: namesOf(schema), isRequired }] : [];
      }),
    );
  });
  afterAll(() => app.stop());

  test('answers whatever it is sent without failing, and says what is wrong', async () => {
    expect(routes.length).toBeGreaterThan(15);
    for (const { path, names } of routes) expect(names, path).not.toEqual([]);
    for (const { method, path, names } of routes) {
      const target = path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '999999');
      await fc.assert(
        fc.asyncProperty(bodyOf(names), async (body) => {
          const answer = await app.send<{ error?: unknown; code?: unknown }>(method, target, body, admin.headers);
          // 501 and 503 are decided answers (contract.md): a thing is not configured or not there.
          expect([500, 502, 504], `${method} ${path} ${JSON.stringify(answer.body)}`).not.toContain(answer.status);
          if (answer.status >= 400)
            expect(answer.body).toMatchObject({ error: expect.any(String), code: answer.status });
        }),
        { numRuns: RUNS_A_ROUTE },
      );
    }
  }, 240_000);

  test('refuses a PUT of which no body arrived; an empty subset of the fields is one', async () => {
    const puts = routes.filter(({ method }) => method === 'PUT');
    expect(puts.length).toBeGreaterThan(5);
    for (const { path, isRequired } of puts) {
      const target = path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '999999');
      expect(isRequired, path).toBe(true);
      expect(await app.send('PUT', target, undefined, admin.headers), path).toMatchObject({
        status: 400,
        body: { error: 'body is required' },
      });
      const empty = await app.send('PUT', target, {}, admin.headers);
      expect(JSON.stringify(empty.body), path).not.toContain('body is');
    }
  });

  test('refuses a field that stands twice, before anything looks at it', async () => {
    for (const { method, path, names } of routes) {
      const name = JSON.stringify(names[0] ?? 'a');
      const target = path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '999999');
      const answer = await app.send<{ error: string }>(method, target, `{${name}:"a",${name}:"b"}`, admin.headers);
      expect(answer.status, `${method} ${path}`).toBe(400);
      expect(answer.body.error, `${method} ${path}`).toContain('twice');
    }
  });

  test('refuses nesting without end', async () => {
    const body = `{"email":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    for (const { method, path } of routes) {
      const target = path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '999999');
      expect((await app.send(method, target, body, admin.headers)).status, `${method} ${path}`).toBe(400);
    }
  });
});
