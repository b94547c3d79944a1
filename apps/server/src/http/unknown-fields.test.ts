import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, createGiven } from '../testing/given-accounts.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';

/** Whoever is locked out has no time for the names of fields: it looks at one header, and ignores all else. */
const WAY_IN = '/emergency/security-reset';

interface Refused {
  error: string;
  details?: string;
}

describe('what a route does not know', () => {
  let app: TestApp;
  let admin: Caller;
  /** Every route as `[METHOD, path]`, with an id in the place of each parameter. */
  let routes: [string, string][];

  const send = <T = Refused>(method: string, path: string, body?: unknown) =>
    app.send<T>(method, path, body, admin.headers);

  beforeAll(async () => {
    app = await startApp('sqlite');
    admin = await createGiven(app).administrator();
    routes = app
      .routePolicies()
      .map((line) => line.split(' ') as [string, string])
      .filter(([method, path]) => method !== 'HEAD' && path.startsWith('/api/v1/') && !path.endsWith('openapi.json'))
      .map(([method, path]) => [method, path.replace('/api/v1', '').replaceAll(/:\w+/g, '999999')]);
  });
  afterAll(() => app.stop());

  test('is refused by name in the body of every route but the way in', async () => {
    const takesBody = routes.filter(
      ([method, path]) => method !== 'GET' && !path.endsWith('/upload') && path !== WAY_IN,
    );
    expect(takesBody.length).toBeGreaterThan(40);
    for (const [method, path] of takesBody) {
      const answer = await send(method, path, { zzqqx: 1 });
      expect(answer, `${method} ${path}`).toMatchObject({
        status: 400,
        body: { error: 'zzqqx is not a known field', details: expect.stringMatching(/^known fields: /) },
      });
    }
  });

  test('is refused by name in the query of every route but probes and the way in', async () => {
    for (const [method, path] of routes.filter(([, path]) => path !== WAY_IN)) {
      const { status, body } = await send(method, `${path}?zzqqx=1`);
      const isProbe = path === '/health' || path === '/metrics';
      expect(status, `${method} ${path}`).toBe(isProbe ? 200 : 400);
      if (!isProbe) expect(body.error, `${method} ${path}`).toBe('zzqqx is not a known parameter');
    }
  });

  test('is no reason to refuse the way in: without a token of the deployment it answers 501, whatever it is sent', async () => {
    expect((await send('POST', `${WAY_IN}?zzqqx=1`, { zzqqx: 1 })).status).toBe(501);
  });

  test.each([
    ['POST', '/proxy-hosts', { websockets: true }, 'websockets is not a known field; did you mean websocket_support?'],
    ['POST', '/proxy-hosts', { forwardHost: 'x' }, 'forwardHost is not a known field; did you mean forward_host?'],
    [
      'POST',
      '/proxy-hosts/bulk',
      { uuids: [], patch: { waf: false } },
      'patch.waf is not a known field; did you mean patch.waf_enabled?',
    ],
    [
      'POST',
      '/access-lists',
      { name: 'n', type: 'allow', rules: [{ cidr: '10.0.0.1' }, { cird: '10.0.0.2' }] },
      'rules[1].cird is not a known field; did you mean rules[1].cidr?',
    ],
    [
      'POST',
      '/security/config',
      { waf_exclusions: [{ rule: 1 }] },
      'waf_exclusions[0].rule is not a known field; did you mean waf_exclusions[0].rule_id?',
    ],
    ['POST', '/users', { email: 'a@example.com', status: 'disabled' }, 'status is not a known field'],
    ['POST', '/security/decisions', { ip: '192.0.2.1', expires_at: 'x' }, 'expires_at is not a known field'],
    ['PUT', '/security/notifications/settings', { webhook: 'x' }, 'did you mean webhook_'],
  ])('%s %s %j: %s', async (method, path, body, error) => {
    const answer = await send(method, path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(error);
  });

  test('names the parameter that was meant', async () => {
    const answer = await send('GET', '/proxy-hosts?perpage=5');
    expect(answer.body).toMatchObject({
      error: 'perpage is not a known parameter; did you mean per_page?',
      details: 'known parameters: page, per_page, sort, order, search',
    });
  });

  test('is not repeated with anything that is not printable, nor at any length', async () => {
    const answer = await send('POST', '/proxy-hosts', { [`\u202e<b>${'x'.repeat(5_000)}`]: 1 });
    expect(answer.body.error).toMatch(/^\?<b>x{60} is not a known field$/);
  });

  test('is refused in an upload as well', async () => {
    const form = new FormData();
    form.set('name', 'n');
    form.set('certificate', new Blob(['x']), 'a.pem');
    const answer = await send('POST', '/certificates/upload', form);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'certificate is not a known field; did you mean certificate_file?' },
    });
  });

  test('lets every object be sent back as it was given', async () => {
    const given = async (path: string, body: object) => (await send<Record<string, unknown>>('POST', path, body)).body;
    const host = await given('/proxy-hosts', {
      domain: 'back.example.com',
      forward_host: '127.0.0.1',
      forward_port: 9,
    });
    const machine = await given('/remote-servers', { name: 'm', host: '127.0.0.1', port: 9 });
    const hook = { name: 'd', type: 'webhook', fields: { url: 'https://dns.example.com/', bearer_token: 'secret' } };
    const dns = await given('/dns-providers', hook);
    const list = await given('/access-lists', { name: 'l', type: 'deny', rules: [{ cidr: '10.0.0.1' }] });
    const user = await given('/users', { email: 'back@example.com', password: 'a long password' });
    for (const path of [
      `/proxy-hosts/${host.uuid}`,
      `/remote-servers/${machine.uuid}`,
      `/dns-providers/${dns.id}`,
      `/access-lists/${list.id}`,
      `/users/${user.id}`,
    ]) {
      const { body } = await send<object>('GET', path);
      expect(await send('PUT', path, body), path).toMatchObject({ status: 200 });
    }
    await send('POST', '/security/config', {});
    const { body: security } = await send<{ config: object }>('GET', '/security/config');
    expect(await send('POST', '/security/config', security.config)).toMatchObject({ status: 200 });
    await send('PUT', '/security/notifications/settings', { enabled: false });
    const { body: settings } = await send<object>('GET', '/security/notifications/settings');
    expect(await send('PUT', '/security/notifications/settings', settings)).toMatchObject({ status: 200 });
    const { body: setting } = await send<object>('GET', '/settings/audit.retention_days');
    expect(await send('POST', '/settings', setting)).toMatchObject({ status: 200 });
    const rules = { name: 'r', content: 'SecAction "id:100001,phase:1,pass"', mode: 'custom' };
    await send('POST', '/security/rulesets', rules);
    const { body: all } = await send<{ rulesets: object[] }>('GET', '/security/rulesets');
    expect(await send('POST', '/security/rulesets', all.rulesets[0])).toMatchObject({ status: 200 });
  });
});
