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
