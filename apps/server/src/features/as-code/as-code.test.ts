import type {
  AccessList,
  Applied,
  AuditEntry,
  Certificate,
  ConfigChange,
  ConfigDocument,
  ErrorBody,
  ProxyHost,
  RemoteServer,
} from '@sallyport/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeCertificate, uploadForm } from '../../../../../test/support/certificates.ts';
import { type Caller, createGiven, fromOutside } from '../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../testing/start-app.ts';

/** A running service with an administrator. */
interface Instance {
  app: TestApp;
  admin: Caller;
}

const RULES =
  'SecRule ARGS "@contains evil" "id:100001,phase:2,deny"\nSecRule ARGS "@contains bad" "id:100002,phase:2,deny"\n';
const YAML = { 'content-type': 'application/yaml' };

const open = async (kind: 'sqlite' | 'postgres'): Promise<Instance> => {
  const app = await startApp(kind);
  return { app, admin: await createGiven(app).administrator() };
};

const exported = async ({ app, admin }: Instance): Promise<string> => {
  const answer = await app.send<string>('GET', '/export', undefined, admin.headers);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('application/yaml');
  return answer.body;
};
const apply = ({ app, admin }: Instance, document: object | string, query = '') => {
  const type = typeof document === 'string' ? YAML : {};
  return app.send<Applied & ErrorBody>('POST', `/apply${query}`, document, { ...admin.headers, ...type });
};
const applied = async (instance: Instance, document: object | string, query = ''): Promise<Applied> => {
  const answer = await apply(instance, document, query);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};
const refused = async (instance: Instance, document: object | string, query = ''): Promise<string> => {
  const answer = await apply(instance, document, query);
  expect(answer.status, JSON.stringify(answer.body)).toBeGreaterThanOrEqual(400);
  return answer.body.error;
};
const inShort = (changes: readonly ConfigChange[]) =>
  changes.map(({ section, name, action, fields }) => `${action} ${section} ${name}: ${fields.map((one) => one.field)}`);

const certificateNamed = (name: string) => uploadForm(name, makeCertificate(['a.example.com']));

/** Configures all there is to configure, nothing of it as the defaults have it. */
const configure = async ({ app, admin }: Instance): Promise<void> => {
  const send = async <T>(method: string, path: string, body: object): Promise<T> => {
    const answer = await app.send<T>(method, path, body, admin.headers);
    expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
  const server = { name: 'rack', provider: 'docker', host: '127.0.0.1', port: 9, enabled: false };
  const rack = await send<RemoteServer>('POST', '/remote-servers', server);
  // Names of remote servers need not be unique.
  await send('POST', '/remote-servers', { name: 'twin', host: '127.0.0.1', port: 1 });
  const twin = await send<RemoteServer>('POST', '/remote-servers', { name: 'twin', host: '127.0.0.1', port: 2 });
  const list = await send<AccessList>('POST', '/access-lists', {
    name: 'office',
    description: 'who is in',
    type: 'geo_allow',
    rules: [{ cidr: '10.0.0.0/8', description: 'vpn' }, { cidr: '192.0.2.1' }],
    countries: ['DE'],
    local_network_only: true,
    enabled: false,
  });
  const certificate = await send<Certificate>('POST', '/certificates/upload', certificateNamed('theirs'));
  await send('POST', '/security/rulesets', {
    name: 'house',
    mode: 'custom',
    content: RULES,
    source_url: 'https://r.test/',
  });
  const host = await send<ProxyHost>('POST', '/proxy-hosts', {
    domain: 'b.example.com,*.c.example.com',
    name: 'B',
    forward_scheme: 'https',
    forward_host: 'origin.test',
    forward_port: 8443,
    ssl_forced: true,
    http2_support: false,
    hsts_enabled: true,
    hsts_subdomains: true,
    block_exploits: false,
    websocket_support: true,
    enabled: false,
    enable_standard_headers: false,
    forward_verify_tls: true,
    forward_http2: true,
    forward_reserved: true,
    waf_enabled: false,
    waf_inspect_responses: true,
    waf_allowed_methods: 'GET',
    waf_allowed_content_types: 'text/plain',
    waf_body_limit: 2048,
    remote_server_id: twin.id,
    certificate_id: certificate.id,
    access_list_id: list.id,
  });
  await send('POST', '/proxy-hosts', {
    domain: 'a.example.com',
    forward_host: '127.0.0.1',
    forward_port: 9,
    remote_server_id: rack.id,
  });
  await send('POST', '/security/config', {
    name: 'ours',
    admin_whitelist: '127.0.0.0/8',
    waf_mode: 'monitor',
    waf_rules_source: 'house',
    rate_limit_requests: 7,
    rate_limit_window_sec: 8,
    rate_limit_burst: 9,
    rate_limit_bypass_list: '192.0.2.0/24',
    waf_paranoia_level: 2,
    waf_anomaly_threshold: 6,
    waf_fail_mode: 'open',
    waf_allowed_methods: 'GET,POST',
    waf_allowed_content_types: 'text/plain',
    waf_body_limit: 4096,
    waf_exclusions: [
      { rule_id: '942100-942199', description: 'why' },
      { rule_id: 942100, target: 'ARGS:q', host_uuid: host.uuid, path: '/x', expires_at: '2099-01-01T00:00:00Z' },
      { rule_id: 942110, host_uuid: '3f0c6a52-8d1e-4b7a-9c55-0a9b6f2d7e41' },
    ],
  });
  await send('PUT', '/security/notifications/settings', {
    enabled: true,
    min_log_level: 'error',
    notify_waf_blocks: false,
    notify_acl_denials: false,
    notify_rate_limit_hits: false,
    email_recipients: 'ops@example.com',
    webhook_format: 'template',
    webhook_template: '{"text":"{{Message}}"}',
    webhook_secret: 'do not tell',
  });
  const settings = {
    'app.public_url': 'https://proxy.example.com',
    'feature.guard.enabled': 'true',
    'security.acl.enabled': 'true',
    'security.block_log.entries': '5',
    'audit.retention_days': '7',
    'backup.schedule': '0 3 * * *',
    'smtp.port': '25',
    'smtp.security': 'none',
    'smtp.username': 'ops',
    'smtp.password': 'do not tell',
    'smtp.from': 'ops@example.com',
  };
  for (const [key, value] of Object.entries(settings)) await send('POST', '/settings', { key, value });
};

onBothDatabases('the configuration as code', (kind) => {
  let one: Instance;
  const others: Instance[] = [];
  const another = async (): Promise<Instance> => {
    const instance = await open(kind);
    others.push(instance);
    return instance;
  };
  beforeEach(async () => {
    one = await open(kind);
  });
  afterEach(async () => {
    for (const { app } of [one, ...others.splice(0)]) await app.stop();
  });

  test('what is exported changes nothing where it comes from, and makes the same of an empty instance', async () => {
    await configure(one);
    const text = await exported(one);
    expect(text).not.toContain('do not tell');
    expect(await exported(one)).toBe(text);
    const document = parse(text) as ConfigDocument;
    const asJson = await one.app.send<ConfigDocument>('GET', '/export?format=json', undefined, one.admin.headers);
    expect(asJson.body).toEqual(document);
    expect(document.proxy_hosts?.map(({ domain }) => domain)).toEqual([
      'a.example.com',
      'b.example.com,*.c.example.com',
    ]);
    expect(document.proxy_hosts?.[0]).toEqual({
      domain: 'a.example.com',
      forward_host: '127.0.0.1',
      forward_port: 9,
      remote_server: 'rack',
    });
    expect(document.proxy_hosts?.[1]).toMatchObject({
      remote_server: 'twin (127.0.0.1:2)',
      certificate: 'theirs',
      access_list: 'office',
    });

    const trail = async () => {
      const answer = await one.app.send<AuditEntry[]>('GET', '/audit-logs?limit=1', undefined, one.admin.headers);
      return answer.body[0]?.id;
    };
    const before = await trail();
    for (const query of ['', '?dry_run=true', '?prune=true', '?prune=true&dry_run=true']) {
      expect(await applied(one, text, query)).toEqual({ changes: [], applied: false, batch: null, backup: null });
      expect(await applied(one, document, query)).toMatchObject({ changes: [] });
    }
    expect(await trail()).toBe(before);

    const two = await another();
    expect(await refused(two, text)).toBe('proxy_hosts[1].certificate names no certificate: "theirs"');
    const up = await two.app.send('POST', '/certificates/upload', certificateNamed('theirs'), two.admin.headers);
    expect(up.status).toBe(201);
    const rehearsed = await applied(two, text, '?dry_run=true');
    expect(parse(await exported(two))).toMatchObject({ proxy_hosts: [] });
    const done = await applied(two, text);
    expect(done.changes).toEqual(rehearsed.changes);
    expect(done).toMatchObject({ applied: true, batch: expect.any(String), backup: expect.any(String) });
    expect(await exported(two)).toBe(text);
    // Pruning the other way round: everything goes, and what is secret stays.
    const three = await another();
    const empty = await exported(three);
    await applied(two, empty, '?prune=true');
    expect(await exported(two)).toBe(empty);
    const password = await two.app.send('GET', '/settings/smtp.password', undefined, two.admin.headers);
    expect(password.body).toMatchObject({ is_set: false });
  });

  test('leaves alone what a document leaves out, tells what changes, and goes back as one', async () => {
    await configure(one);
    const before = await exported(one);
    const document = {
      sallyport: 1,
      settings: { 'audit.retention_days': 8 },
      remote_servers: [{ name: 'new', host: '127.0.0.1', port: 3 }],
      proxy_hosts: [
        { domain: 'A.example.com', forward_port: 10, remote_server: 'new' },
        // Takes a name over that the other one has.
        { domain: 'b.example.com', access_list: null },
        { domain: 'd.example.com,*.c.example.com', forward_host: '127.0.0.1', forward_port: 9 },
      ],
    };
    const rehearsed = await applied(one, document, '?dry_run=true');
    expect(rehearsed).toMatchObject({ applied: false, batch: null, backup: null });
    expect(inShort(rehearsed.changes)).toEqual([
      'update settings audit.retention_days: value',
      'create remote_servers new: name,host,port',
      'update proxy_hosts a.example.com: forward_port,remote_server',
      'update proxy_hosts b.example.com: domain,access_list',
      'create proxy_hosts d.example.com: domain,forward_host,forward_port',
    ]);
    expect(rehearsed.changes[2]?.fields).toEqual([
      { field: 'forward_port', before: 9, after: 10 },
      { field: 'remote_server', before: 'rack', after: 'new' },
    ]);
    expect(await exported(one)).toBe(before);

    const done = await applied(one, document);
    expect(done.changes).toEqual(rehearsed.changes);
    const backups = await one.app.send<{ name: string }[]>('GET', '/backups', undefined, one.admin.headers);
    expect(backups.body.map(({ name }) => name)).toContain(done.backup);
    const trail = await one.app.send<AuditEntry[]>('GET', '/audit-logs?limit=9', undefined, one.admin.headers);
    expect(trail.body.map(({ action }) => action)).toContain('config.apply');
    expect(trail.body.map(({ action }) => action)).toContain('proxy_host.create');
    expect(await applied(one, document)).toMatchObject({ changes: [] });

    const back = await one.app.send('POST', `/history/batches/${done.batch}/revert`, undefined, one.admin.headers);
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    expect(await exported(one)).toBe(before);

    // Only within the sections that there are.
    const pruned = await applied(one, { sallyport: 1, proxy_hosts: [{ domain: 'a.example.com' }] }, '?prune=true');
    expect(inShort(pruned.changes)).toEqual([
      'update security security: waf_exclusions',
      'update proxy_hosts a.example.com: remote_server',
      'delete proxy_hosts b.example.com: domain,name,forward_scheme,forward_host,forward_port,ssl_forced,http2_support,hsts_enabled,hsts_subdomains,block_exploits,websocket_support,enabled,enable_standard_headers,forward_verify_tls,forward_http2,forward_reserved,waf_enabled,waf_inspect_responses,waf_allowed_methods,waf_allowed_content_types,waf_body_limit,remote_server,certificate,access_list',
    ]);
  });

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
