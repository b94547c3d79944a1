import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import type { ErrorBody, Ruleset } from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../../../../test/support/certificates.ts';
import { type DatabaseKind, onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const RULE = 'SecRule ARGS:x "@contains evil" "id:1001,phase:2,deny,status:403"';

/** A server of rules on loopback that stands for a public one. */
const serveRules = async () => {
  const { certificate, key } = makeCertificate(['localhost', 'rules.localhost']);
  setDefaultCACertificates([...rootCertificates, certificate]);
  const server = createServer({ cert: certificate, key }, (request, response) => {
    if (request.url === '/rules.conf') response.end(RULE);
    else if (request.url === '/large') response.end('#'.repeat(5 * 1024 * 1024 + 1));
    else if (request.url === '/away') response.writeHead(302, { location: 'https://10.0.0.1/' }).end();
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://localhost:${port}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
};

/** A service for the tests of a group, and what they ask of it. */
const serveRulesets = (kind: DatabaseKind) => {
  let app: TestApp;
  let rules: Awaited<ReturnType<typeof serveRules>>;
  beforeAll(async () => {
    rules = await serveRules();
    app = await startApp(
      kind,
      {},
      {
        addressPolicy: {
          isBlockedAddress: (address, port) => address !== '127.0.0.1' || port !== rules.port,
          isBlockedName: () => false,
        },
      },
    );
  });
  afterAll(async () => {
    await app.stop();
    await rules.stop();
    setDefaultCACertificates([...rootCertificates]);
  });

  const upsert = (body: unknown) => app.send<{ ruleset: Ruleset } & ErrorBody>('POST', '/security/rulesets', body);
  const list = async () => (await app.send<{ rulesets: Ruleset[] }>('GET', '/security/rulesets')).body.rulesets;

  return {
    send: (...request: Parameters<TestApp['send']>) => app.send(...request),
    rulesUrl: () => rules.url,
    upsert,
    list,
  };
};

onBothDatabases('rulesets', (kind) => {
  const { send, rulesUrl, upsert, list } = serveRulesets(kind);

  test('adds a ruleset, replaces it by name, and deletes it', async () => {
    const created = await upsert({ name: 'mine', mode: 'custom', content: RULE });
    expect(created.status).toBe(200);
    expect(created.body.ruleset).toMatchObject({
      id: expect.any(Number),
      name: 'mine',
      source_url: '',
      mode: 'custom',
      content: RULE,
      rule_count: 1,
    });
    const replaced = await upsert({
      name: 'mine',
      mode: 'custom',
      content: `${RULE}\n${RULE.replace('1001', '1002')}\n`,
    });
    expect(replaced.body.ruleset).toMatchObject({ id: created.body.ruleset.id, rule_count: 2 });
    expect(await list()).toEqual([replaced.body.ruleset]);
    const deleted = await send('DELETE', `/security/rulesets/${created.body.ruleset.id}`);
    expect(deleted).toMatchObject({ status: 200, body: { deleted: true } });
    expect((await send('DELETE', `/security/rulesets/${created.body.ruleset.id}`)).status).toBe(404);
    expect((await send('DELETE', '/security/rulesets/x')).status).toBe(400);
    expect(await list()).toEqual([]);
  });

  test('fetches rules by source_url', async () => {
    const source_url = `${rulesUrl()}/rules.conf`;
    const answer = await upsert({ name: 'fetched', mode: 'custom', source_url });
    expect(answer.body).toMatchObject({ ruleset: { content: RULE, source_url, rule_count: 1 } });
    for (const [path, message] of [
      ['/none', 'status 404'],
      ['/large', 'larger than 5242880 bytes'],
      ['/away', 'private IP address'],
    ]) {
      const refused = await upsert({ name: 'fetched', mode: 'custom', source_url: `${rulesUrl()}${path}` });
      expect(refused.status).toBe(400);
      expect(refused.body.error).toContain(message);
    }
    await send('DELETE', `/security/rulesets/${answer.body.ruleset.id}`);
  });

  test('checks rules together with the Core Rule Set in mode owasp, and does not delete what is selected', async () => {
    const { status, body } = await upsert({ name: 'with-crs', content: `${RULE}\n${RULE.replace('1001', '942100')}` });
    expect(status).toBe(400);
    expect(body.error).toMatch(/^content is not valid: .*942100/);
    const created = await upsert({ name: 'with-crs', content: RULE });
    expect(created.body.ruleset).toMatchObject({ mode: 'owasp', rule_count: 1 });
    await send('POST', '/security/config', { waf_rules_source: 'with-crs' });
    const path = `/security/rulesets/${created.body.ruleset.id}`;
    expect(await send('DELETE', path)).toMatchObject({
      status: 409,
      body: { error: 'ruleset is selected by waf_rules_source' },
    });
    await send('POST', '/security/config', { waf_rules_source: 'owasp' });
    expect((await send('DELETE', path)).status).toBe(200);
  });

  test('refuses a limit for bodies that is above the one of the settings, for it would have no effect', async () => {
    const limited = (bytes: number) =>
      upsert({ name: 'limited', mode: 'custom', content: `SecRequestBodyLimit ${bytes}\n${RULE}\n` });
    expect(await limited(13_107_201)).toMatchObject({
      status: 400,
      body: {
        error:
          'content is not valid: line 1, column 21: SecRequestBodyLimit expects at most 13107200 bytes: longer bodies are refused before any rule sees them',
      },
    });
    expect((await limited(13_107_200)).status).toBe(200);
    await send('POST', '/security/config', { waf_body_limit: 20_000_000 });
    expect((await limited(13_107_201)).status).toBe(200);
  });
});

// On one store: nothing of it gets there.
describe('rulesets that are looked at', () => {
  const { send, upsert, list } = serveRulesets('sqlite');

  test.each([9_500_000, 9_500_014, 9_530_000, 99_000])(
    'refuses a rule whose id %i is one that is judged by as well: no guard would take it',
    async (id) => {
      for (const mode of ['custom', 'owasp']) {
        const { status, body } = await upsert({ name: 'taken', mode, content: RULE.replace('1001', String(id)) });
        expect(status).toBe(400);
        expect(body.error).toContain(`The id ${id} is already taken`);
      }
    },
  );

  test.each([
    ['a broken rule', 'SecRule ARGS:x', /^content is not valid: line 1, column \d+: /],
    ['an unknown directive', `${RULE}\nSecRuul ARGS "x"`, /^content is not valid: line 2, column 1: /],
    [
      'an unknown operator',
      '\n\nSecRule ARGS "@looksBad x" "id:1"',
      /^content is not valid: line 3, column \d+: .*looksBad/i,
    ],
    ['a broken pattern', 'SecRule ARGS "@rx (" "id:1"', /^content is not valid: line 1, column \d+: /],
    ['an id used twice', `${RULE}\n${RULE}`, /^content is not valid: line \d, column \d+: /],
    ['a file of the system', 'SecRule ARGS "@pmFromFile /etc/passwd" "id:1"', /^content is not valid: line 1, /],
    ['an include', 'Include /etc/passwd', /^content is not valid: line 1, /],
  ])('refuses %s with line, column and reason', async (_what, content, message) => {
    const answer = await upsert({ name: 'broken', mode: 'custom', content });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(message);
    expect(answer.body.error).not.toContain('root:');
    expect(await list()).toEqual([]);
  });

  test('tells all that is wrong with rules that are not stored, and keeps none', async () => {
    const check = (body: object) => send('POST', '/security/rulesets/check', body);
    expect(await check({ mode: 'custom', content: RULE })).toMatchObject({
      status: 200,
      body: { rule_count: 1, errors: [], warnings: [] },
    });
    const without = `SecTmpDir /tmp\nSecRule ARGS_POST "@rx a" "id:3,phase:1,pass"\n`;
    expect(await check({ mode: 'custom', content: without })).toMatchObject({
      body: {
        rule_count: 1,
        errors: [],
        warnings: [
          { line: 1, token: 'SecTmpDir', file: null },
          { line: 2, token: 'ARGS_POST', expected: 'phase:2 or a later one', file: null },
        ],
      },
    });
    expect(await check({ mode: 'custom', content: `${RULE}\nSecRuul x\n  SecRule ARGS "@rx (" "id:2"` })).toMatchObject(
      {
        status: 200,
        body: {
          rule_count: null,
          errors: [
            { line: 2, column: 1, token: 'SecRuul', file: null },
            { line: 3, column: expect.any(Number), message: expect.any(String), file: null },
          ],
        },
      },
    );
    expect(await check({ content: RULE, mode: 'none' })).toMatchObject({ status: 400 });
    expect(await list()).toEqual([]);
  });

  test.each([
    ['no name', { content: RULE }, 'name is required'],
    ['a blank name', { name: ' ', content: RULE }, 'name is required'],
    ['no rules', { name: 'x' }, 'content is required when there is no source_url'],
    ['another mode', { name: 'x', mode: 'loud', content: RULE }, 'mode must be one of: owasp, custom'],
    ['a path as source', { name: 'x', content: RULE, source_url: '/etc/passwd' }, 'source_url must be'],
    [
      'plain http to fetch',
      { name: 'x', source_url: 'http://example.com/' },
      'source_url can only be fetched from https',
    ],
    [
      'a private source',
      { name: 'x', source_url: 'https://10.0.0.1/rules' },
      'private IP address (blocked for security)',
    ],
  ])('refuses %s', async (_what, body, message) => {
    const answer = await upsert(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(message);
  });
});
