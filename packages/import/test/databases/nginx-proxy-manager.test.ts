import { expect, test } from 'vitest';
import { row } from './make.ts';
import { app, messages, readNpm } from './read.ts';

test('hosts of Nginx Proxy Manager come with what they say', () => {
  const { source, hosts, errors, accessLists } = readNpm(
    row('certificate', { id: 3, provider: 'other', nice_name: 'mine', domain_names: '["app.test"]' }),
    row('proxy_host', {
      ...app,
      domain_names: '["App.test", "www.app.test"]',
      forward_scheme: 'https',
      ssl_forced: 1,
      hsts_enabled: 1,
      hsts_subdomains: 1,
      http2_support: 1,
      block_exploits: 1,
      allow_websocket_upgrade: 1,
    }),
    row('proxy_host', { ...app, domain_names: '["off.test"]', enabled: 0, certificate_id: 0, ssl_forced: 1 }),
    row('proxy_host', { ...app, domain_names: '["gone.test"]', is_deleted: 1 }),
  );
  expect({ source, errors, accessLists }).toEqual({ source: 'nginx-proxy-manager', errors: [], accessLists: [] });
  expect(hosts).toMatchObject([
    {
      domain: 'app.test,www.app.test',
      forward_scheme: 'https',
      forward_host: '10.0.0.1',
      forward_port: 8080,
      ssl_forced: true,
      hsts_enabled: true,
      hsts_subdomains: true,
      http2_support: true,
      block_exploits: true,
      websocket_support: true,
      file: 'database.sqlite: proxy_host',
      line: 1,
    },
    // Without a certificate nothing is forced there either.
    { domain: 'off.test', enabled: false, ssl_forced: false, block_exploits: false, websocket_support: false, line: 2 },
  ]);
  expect(hosts[0]).not.toHaveProperty('enabled');
  expect(messages(hosts[0])).toContain('upload custom_ssl/npm-3/fullchain.pem and privkey.pem');
});

test('redirections, streams and hosts without an upstream are told of', () => {
  const { hosts, warnings } = readNpm(
    row('redirection_host', { domain_names: '["old.test"]', forward_domain_name: 'new.test' }),
    row('redirection_host', {
      domain_names: '["gone.test"]',
      forward_domain_name: 'now.test',
      forward_scheme: 'https',
      forward_http_code: 301,
      preserve_path: 1,
    }),
    row('dead_host', { domain_names: '["dead.test"]' }),
    row('stream', { incoming_port: 5432, forwarding_host: '10.0.0.2', forwarding_port: 5433 }),
    row('proxy_host', { ...app, domain_names: '{"0": "object.test"}' }),
    row('proxy_host', { ...app, domain_names: '["no list' }),
    row('proxy_host', { ...app, forward_host: '10.0.0.1/path' }),
    row('proxy_host', { ...app, forward_port: 70_000 }),
    "insert into proxy_host (domain_names, forward_host, forward_port) values ('[\"a.te\\u0000st\"]', 'a' || char(0) || 'b', 1)",
  );
  expect(hosts).toEqual([]);
  const said = warnings.map(({ message }) => message);
  for (const part of [
    'old.test is not imported: it only redirects to new.test (302), and',
    'gone.test is not imported: it only redirects to https://now.test with the same path (301), and',
    'dead.test is not imported: it answers 404',
    'the stream of port 5432 to 10.0.0.2:5433 is not imported',
    'app.test is not imported: its upstream',
    'port 70000',
  ]) {
    expect(
      said.some((message) => message.includes(part)),
      part,
    ).toBe(true);
  }
  expect(said.filter((message) => message.includes('its names are no list'))).toHaveLength(2);
});

test.each([
  ['auth_request /check;', 'auth_request /check'],
  ['allow 10.0.0.0/8;\ndeny all;', 'deny all'],
  ['}\nserver { listen 81; location / { proxy_pass http://10.9.9.9; }', 'not understood'],
  ['access_by_magic "x";', 'access_by_magic'],
  ['include /data/custom.conf;', 'not among those uploaded'],
  ['location / {', 'not understood'],
])('what is written by hand and may keep requests out switches a host off: %s', (advanced_config, message) => {
  const { hosts } = readNpm(row('proxy_host', { ...app, advanced_config }));
  expect(hosts).toMatchObject([{ domain: 'app.test', forward_host: '10.0.0.1', enabled: false }]);
  expect(messages(hosts[0])).toContain(message);
});

test('what is written by hand and keeps nobody out is told of', () => {
  const { hosts } = readNpm(
    row('proxy_host', { ...app, advanced_config: 'client_max_body_size 0;\nproxy_read_timeout 3600s; # slow' }),
  );
  expect(hosts[0]).not.toHaveProperty('enabled');
  expect(messages(hosts[0])).toContain('client_max_body_size');
});

test('locations are told of, and one for all paths is the upstream', () => {
  const location = { path: '/', forward_scheme: 'http', forward_host: '10.0.0.9', forward_port: 90 };
  const api = { ...location, path: '/api', forward_port: 91 };
  const closed = { ...api, advanced_config: 'deny all;' };
  const odd = { ...api, path: '/ { return 403; } location /x' };
  const hosts = [[location], [api], [closed], [odd], [null]].map(
    (locations) => readNpm(row('proxy_host', { ...app, locations: JSON.stringify(locations) })).hosts[0],
  );
  expect(hosts[0]).toMatchObject({ forward_host: '10.0.0.9', forward_port: 90 });
  expect(hosts[1]).toMatchObject({ forward_host: '10.0.0.1' });
  expect(messages(hosts[1])).toContain('/api go to http://10.0.0.9:91');
  expect(hosts.map((host) => host?.enabled)).toEqual([undefined, undefined, false, false, false]);
  expect(readNpm(row('proxy_host', { ...app, locations: '{}' })).hosts).toMatchObject([{ enabled: false }]);
});

test('TLS is forced where there is a certificate and it is asked for, and the scheme is http unless it is said', () => {
  const { hosts } = readNpm(
    row('certificate', { id: 3, provider: 'other', nice_name: 'mine', domain_names: '["app.test"]' }),
    row('proxy_host', { ...app, ssl_forced: 0, hsts_enabled: 1, hsts_subdomains: 1, forward_scheme: '' }),
    row('proxy_host', { ...app, domain_names: '["b.test"]', ssl_forced: 1, hsts_enabled: 0, hsts_subdomains: 1 }),
  );
  const off = { hsts_enabled: false, hsts_subdomains: false };
  expect(hosts).toMatchObject([
    { domain: 'app.test', ssl_forced: false, forward_scheme: 'http', ...off },
    { domain: 'b.test', ssl_forced: true, ...off },
  ]);
});
