import type { ConfigDocument, ErrorBody } from '@sallyport/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGiven, fromOutside } from '../../testing/given-accounts.ts';
import {
  applied,
  apply,
  exported,
  type Instance,
  inShort,
  openInstance,
  refused,
} from '../../testing/given-as-code.ts';
import { onBothDatabases } from '../../testing/start-app.ts';

onBothDatabases('what a document is refused for', (kind) => {
  let one: Instance;
  beforeEach(async () => {
    one = await openInstance(kind);
  });
  afterEach(() => one.app.stop());

  test('changes all or nothing, and says where in the document it is wrong', async () => {
    const good = { domain: 'a.example.com', forward_host: '127.0.0.1', forward_port: 9 };
    const hosts = (...more: object[]) => ({ sallyport: 1, proxy_hosts: [good, ...more] });
    const empty = await exported(one);
    expect(await refused(one, hosts({ ...good, domain: 'b.example.com', forward_port: 0 }))).toBe(
      'proxy_hosts[1].forward_port must be between 1 and 65535',
    );
    expect(await refused(one, hosts({ domain: 'b.example.com', forward_host: 'x' }))).toBe(
      'proxy_hosts[1].forward_port is required: there is no such object yet',
    );
    expect(await refused(one, hosts({ ...good, domain: 'b.example.com', fowrard_http2: true }))).toBe(
      'proxy_hosts[1].fowrard_http2 is not a known field; did you mean proxy_hosts[1].forward_http2?',
    );
    expect(await refused(one, hosts({ ...good, domain: 'c.example.com,A.example.com' }))).toBe(
      'proxy_hosts[1].domain has a.example.com, which proxy_hosts[0] has',
    );
    expect(await refused(one, hosts({ ...good, domain: 'b.example.com', access_list: 'none' }))).toBe(
      'proxy_hosts[1].access_list names no access list: "none"',
    );
    expect(await refused(one, hosts({ ...good, domain: 'b c' }))).toContain(
      'proxy_hosts[1].domain "b c" must be a DNS name',
    );
    expect(await refused(one, { sallyport: 1, proxy_host: [] })).toContain('did you mean proxy_hosts?');
    expect(await refused(one, { proxy_hosts: [] })).toBe('sallyport is required');
    expect(await refused(one, { sallyport: 2 })).toContain('sallyport must be');
    expect(await refused(one, { sallyport: 1, settings: { 'audit.retention_days': 'soon' } })).toContain(
      'settings.audit.retention_days',
    );
    // No guess at what was meant, which would lead a password into the field for the user's name.
    expect(await refused(one, { sallyport: 1, settings: { 'smtp.password': 'x' } })).toBe(
      'settings.smtp.password is a secret, which no document holds: POST /settings sets it',
    );
    for (const [section, field] of [
      ['security', 'webhook_url'],
      ['notifications', 'webhook_url'],
      ['notifications', 'webhook_secret'],
    ] as const) {
      const told = await refused(one, { sallyport: 1, [section]: { [field]: 'https://x.test' } });
      expect(told).toContain(`${section}.${field} is a secret, which no document holds`);
    }
    expect(
      await refused(one, { sallyport: 1, security: { waf_exclusions: [{ rule_id: 1, host: 'no.example.com' }] } }),
    ).toBe('security.waf_exclusions[0].host names no proxy host: "no.example.com"');
    expect(await refused(one, { sallyport: 1, rulesets: [{ name: 'r', content: 'SecNothing' }] })).toMatch(
      /^rulesets\[0\][.:]/,
    );
    const lists = [
      { name: 'l', type: 'allow' },
      { name: 'l ', type: 'deny' },
    ];
    expect(await refused(one, { sallyport: 1, access_lists: lists })).toBe(
      'access_lists[1].name is that of access_lists[0]',
    );
    expect(
      await refused(one, { sallyport: 1, access_lists: [{ name: 'l', type: 'allow', countries: ['DE'] }] }),
    ).toContain('access_lists[0].countries can only be given for');
    expect(await exported(one)).toBe(empty);
  });

  test('YAML may have comments, and is refused with its place when it is none, or a bomb', async () => {
    const text = '# ours\nsallyport: 1\naccess_lists:\n  - name: office # in the house\n    type: allow\n';
    expect(inShort((await applied(one, text)).changes)).toEqual(['create access_lists office: name,type']);
    expect(await refused(one, 'sallyport: 1\naccess_lists: [\n')).toMatch(
      /^body is not valid YAML: line \d+, column \d+: /,
    );
    const broken = 'sallyport: 1\nproxy_hosts:\n  - domain: "a.example.com\n';
    const { body } = await apply(one, broken);
    expect(body.details).toBe('the line is - domain: "a.example.com');
    expect(await refused(one, 'sallyport: 1\nsallyport: 1\n')).toContain('line 2');
    expect(await refused(one, 'sallyport: !!js/function "x"\n')).toContain('line 1');
    const bomb = ['a: &a0 [x,x,x,x,x,x,x,x,x]'];
    for (let depth = 1; depth < 9; depth += 1) bomb.push(`b${depth}: &a${depth} [${Array(9).fill(`*a${depth - 1}`)}]`);
    expect(await refused(one, bomb.join('\n'))).toContain('alias');
    expect(await refused(one, `a: ${'['.repeat(50_000)}`)).toContain('body is not valid YAML');
    expect(await refused(one, `a: ${'['.repeat(40)}${']'.repeat(40)}`)).toContain('nested too deeply');
    expect(await refused(one, 'just a text')).toBe('body must be a JSON object');
    expect(await refused(one, '__proto__: {enabled: true}\nsallyport: 1\n')).toContain('not a known field');
  });

  test('takes what single calls take: an administrator, for settings, and a session, where they do', async () => {
    const { app, admin } = one;
    const given = createGiven({ send: app.send });
    const settings = { sallyport: 1, settings: { 'smtp.host': 'mail.test' } };
    const local = await app.send<ErrorBody>('POST', '/apply', settings);
    expect(local).toMatchObject({ status: 403, body: { details: 'settings.smtp.host' } });
    const hosts = {
      sallyport: 1,
      proxy_hosts: [{ domain: 'a.example.com', forward_host: '127.0.0.1', forward_port: 9 }],
    };
    expect((await app.send('POST', '/apply', hosts)).status).toBe(200);
    const seen = await app.send<ConfigDocument>('GET', '/export?format=json');
    expect(seen.body).not.toHaveProperty('settings');
    expect(seen.body.proxy_hosts).toHaveLength(1);

    const { token } = await given.apiToken(admin, 'admin');
    const byToken = await app.send<ErrorBody>('POST', '/apply', settings, { authorization: `Bearer ${token}` });
    expect(byToken.status).toBe(403);
    expect(byToken.body.error).toContain('settings.smtp.host');
    expect(await applied(one, settings)).toMatchObject({ applied: true });

    // Nobody switches on what would lock them out, and who is elsewhere does not switch off.
    const on = { sallyport: 1, settings: { 'feature.guard.enabled': true } };
    expect(await refused(one, on)).toContain('could lock you out');
    const guarded = { ...on, security: { admin_whitelist: '127.0.0.1' } };
    const confirmed = await app.send('POST', '/apply?confirm_within=600', guarded, admin.headers);
    expect(confirmed.status).toBe(200);
    const id = confirmed.headers.get('x-sallyport-confirm');
    expect((await app.send('POST', `/security/confirm/${id}`, undefined, admin.headers)).status).toBe(204);
    const off = { sallyport: 1, settings: { 'feature.guard.enabled': false } };
    const outside = await app.send('POST', '/apply', off, { ...admin.headers, ...fromOutside() });
    expect(outside.status).toBe(403);
  });
});
