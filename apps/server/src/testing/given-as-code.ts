import type {
  AccessList,
  Applied,
  Certificate,
  ConfigChange,
  ErrorBody,
  ProxyHost,
  RemoteServer,
} from '@sallyport/contract';
import { expect } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { type Caller, createGiven } from './given-accounts.ts';
import { type DatabaseKind, startApp, type TestApp } from './start-app.ts';

/** A running service with an administrator. */
export interface Instance {
  app: TestApp;
  admin: Caller;
}

const RULES =
  'SecRule ARGS "@contains evil" "id:100001,phase:2,deny"\nSecRule ARGS "@contains bad" "id:100002,phase:2,deny"\n';
const YAML = { 'content-type': 'application/yaml' };

/** A service of its own. */
export const openInstance = async (kind: DatabaseKind): Promise<Instance> => {
  const app = await startApp(kind);
  return { app, admin: await createGiven(app).administrator() };
};

/** The document of all that is configured, YAML. */
export const exported = async ({ app, admin }: Instance): Promise<string> => {
  const answer = await app.send<string>('GET', '/export', undefined, admin.headers);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('application/yaml');
  return answer.body;
};
/** Applies a document, YAML when it is a text. */
export const apply = ({ app, admin }: Instance, document: object | string, query = '') => {
  const type = typeof document === 'string' ? YAML : {};
  return app.send<Applied & ErrorBody>('POST', `/apply${query}`, document, { ...admin.headers, ...type });
};
/** What applying a document changed. */
export const applied = async (instance: Instance, document: object | string, query = ''): Promise<Applied> => {
  const answer = await apply(instance, document, query);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};
/** Why a document is not applied. */
export const refused = async (instance: Instance, document: object | string, query = ''): Promise<string> => {
  const answer = await apply(instance, document, query);
  expect(answer.status, JSON.stringify(answer.body)).toBeGreaterThanOrEqual(400);
  return answer.body.error;
};
/** Changes in a line each. */
export const inShort = (changes: readonly ConfigChange[]) =>
  changes.map(({ section, name, action, fields }) => `${action} ${section} ${name}: ${fields.map((one) => one.field)}`);

export const certificateNamed = (name: string) => uploadForm(name, makeCertificate(['a.example.com']));

/** Configures all there is to configure, nothing of it as the defaults have it. */
export const configure = async ({ app, admin }: Instance): Promise<void> => {
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
