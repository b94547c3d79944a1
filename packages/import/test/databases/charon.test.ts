import { expect, test } from 'vitest';
import { CHARON, made, row } from './make.ts';
import { read } from './read.ts';

test('hosts of Charon come with what they say, and with their access lists', () => {
  const { source, hosts, accessLists, warnings } = read(
    made(
      ...CHARON,
      row('access_lists', {
        id: 2,
        name: 'office',
        type: 'whitelist',
        ip_rules: '[{"cidr": "10.0.0.0/8", "description": "us"}]',
        local_network_only: 0,
        enabled: 1,
      }),
      row('access_lists', { id: 3, name: 'odd', type: 'greylist', ip_rules: '[]', enabled: 1 }),
      row('proxy_hosts', {
        uuid: 'a',
        name: 'App',
        domain_names: 'app.test, www.app.test',
        forward_host: 'app',
        forward_port: 80,
        websocket_support: 1,
        enable_standard_headers: 1,
        access_list_id: 2,
      }),
      row('proxy_hosts', { uuid: 'b', domain_names: 'b.test', forward_host: 'b', forward_port: 80, access_list_id: 3 }),
      row('proxy_hosts', {
        uuid: 'c',
        domain_names: 'c.test',
        forward_host: 'c',
        forward_port: 80,
        forward_auth_enabled: 1,
      }),
      row('proxy_hosts', {
        uuid: 'd',
        domain_names: 'd.test',
        forward_host: 'd',
        forward_port: 80,
        advanced_config: '{"x": 1}',
      }),
      row('proxy_hosts', { uuid: 'e', domain_names: 'e.test', forward_host: 'e', forward_port: 80, enabled: 0 }),
      row('remote_servers', { uuid: 'r', name: 'nas', host: '10.0.0.7', port: 80 }),
    ),
  );
  expect(source).toBe('charon');
  expect(hosts).toMatchObject([
    {
      name: 'App',
      domain: 'app.test,www.app.test',
      forward_host: 'app',
      http2_support: true,
      block_exploits: true,
      websocket_support: true,
      enable_standard_headers: true,
      access_list: 'office',
    },
    { domain: 'b.test', enabled: false, enable_standard_headers: false },
    { domain: 'c.test', enabled: false },
    { domain: 'd.test', enabled: false },
    { domain: 'e.test', enabled: false, warnings: [] },
  ]);
  expect(hosts[0]).not.toHaveProperty('enabled');
  expect(accessLists).toMatchObject([
    { name: 'office', type: 'allow', rules: [{ cidr: '10.0.0.0/8', description: 'us' }] },
  ]);
  expect(warnings.map(({ message }) => message)).toEqual(['the remote server nas (10.0.0.7:80) is not imported']);
});

test('what a proxy host here can not say is told, and what is deleted or no host is not imported', () => {
  const host = (fields: Record<string, string | number>) =>
    row('proxy_hosts', { domain_names: 'app.test', forward_host: 'app', forward_port: 80, uuid: 'a', ...fields });
  const { hosts, warnings, accessLists } = read(
    made(
      ...CHARON,
      'alter table proxy_hosts add column deleted_at datetime',
      'alter table proxy_hosts add column security_header_profile_id integer',
      'alter table proxy_hosts add column waf_disabled numeric',
      'create table security_decisions (id integer primary key, action text, ip text)',
      row('security_decisions', { id: 4, action: 'allow', ip: '192.0.2.4' }),
      row('security_decisions', { id: 5, action: 'block', ip: '192.0.2.5' }),
      row('security_decisions', { id: 6, action: 'block', ip: '192.0.2.6' }),
      row('access_lists', {
        id: 7,
        name: '',
        type: 'geo_whitelist',
        country_codes: 'de, ,ch',
        ip_rules: '[]',
        enabled: 0,
      }),
      row('locations', { uuid: 'l', proxy_host_id: 1, path: '/api', forward_host: 'api', forward_port: 81 }),
      host({ id: 1, security_header_profile_id: 3, advanced_config: '{}', access_list_id: 7, waf_disabled: 1 }),
      host({ id: 2, uuid: 'b', domain_names: 'b.test', deleted_at: '2026-01-01' }),
      host({ id: 3, uuid: 'c', domain_names: ' , ' }),
      host({ id: 4, uuid: 'd', domain_names: 'd.test', forward_scheme: 'ftp' }),
      host({ id: 5, uuid: 'e', domain_names: 'e.test', forward_scheme: '', access_list_id: 9 }),
      host({ id: 6, uuid: 'f', domain_names: 'f.test', forward_scheme: 'https', ssl_forced: 1 }),
    ),
  );
  expect(hosts.map(({ domain, forward_scheme, enabled }) => [domain, forward_scheme, enabled])).toEqual([
    ['app.test', 'http', undefined],
    ['e.test', 'http', false],
    ['f.test', 'https', undefined],
  ]);
  expect(hosts[0]).toMatchObject({ access_list: 'Access list 7', waf_enabled: false });
  expect(accessLists).toEqual([
    expect.objectContaining({ name: 'Access list 7', type: 'geo_allow', countries: ['DE', 'CH'], enabled: false }),
  ]);
  expect(hosts[0]?.warnings.map(({ message }) => message)).toEqual([
    'requests for /api go to api:81 there; a proxy host sends all to one upstream',
    'its profile of security headers is not taken over: headers of answers are not changed',
  ]);
  expect(hosts[1]?.warnings.map(({ message }) => message)).toContain('its access list 9 is not in the database');
  expect(hosts.map((one) => [one.auto_certificate, one.waf_enabled])).toEqual([
    [undefined, false],
    [undefined, true],
    [true, true],
  ]);
  expect(warnings.map(({ message }) => message)).toEqual([
    'a proxy host is not imported: it has no name',
    'd.test is not imported: ftp is neither http nor https',
    expect.stringContaining('Charon'),
    '2 decisions that block addresses, such as 192.0.2.5, are not imported',
  ]);
});
