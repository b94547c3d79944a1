import { expect, test } from 'vitest';
import { row } from './make.ts';
import { app, messages, readNpm } from './read.ts';

const listed = (clients: readonly [string, string][], { passwords = 0, any = 0 } = {}) =>
  readNpm(
    row('access_list', { id: 7, name: 'home', satisfy_any: any }),
    ...clients.map(([directive, address]) => row('access_list_client', { access_list_id: 7, address, directive })),
    ...Array.from({ length: passwords }, () =>
      row('access_list_auth', { access_list_id: 7, username: 'u', password: 'very secret' }),
    ),
    row('proxy_host', { ...app, access_list_id: 7 }),
  );

test('access lists that one of ours says as well come along', () => {
  const allow = listed([
    ['allow', '10.0.0.0/8'],
    ['allow', '2001:db8::1'],
  ]);
  expect(allow.accessLists).toEqual([
    { name: 'home', type: 'allow', rules: [{ cidr: '10.0.0.0/8' }, { cidr: '2001:db8::1' }] },
  ]);
  expect(allow.hosts).toMatchObject([{ access_list: 'home' }]);
  expect(allow.hosts[0]).not.toHaveProperty('enabled');
  const deny = listed([
    ['deny', '192.0.2.1'],
    ['allow', 'all'],
    ['deny', '192.0.2.2'],
  ]);
  expect(deny.accessLists).toEqual([{ name: 'home', type: 'deny', rules: [{ cidr: '192.0.2.1' }] }]);
});

test.each([
  ['a password', [], { passwords: 1 }, 'asks for a password'],
  [
    'addresses in an order that matters',
    [
      ['deny', '10.0.0.1'],
      ['allow', '10.0.0.0/8'],
    ],
    {},
    'in an order',
  ],
  ['what is no address', [['allow', 'home.test']], {}, 'in an order'],
  ['a directive that is none', [['permit', 'all']], {}, 'in an order'],
  ['nothing', [], {}, 'neither addresses nor passwords'],
] as const)('a host whose access list has %s comes switched off', (_, clients, options, message) => {
  const { hosts } = listed(
    clients.map(([directive, address]): [string, string] => [directive, address]),
    options,
  );
  expect(hosts).toMatchObject([{ domain: 'app.test', enabled: false }]);
  expect(messages(hosts[0])).toContain(message);
  expect(JSON.stringify(hosts)).not.toContain('very secret');
});

test('a host whose access list is nowhere comes switched off', () => {
  const { hosts } = readNpm(row('proxy_host', { ...app, access_list_id: 9 }));
  expect(hosts).toMatchObject([{ enabled: false }]);
});

test('two access lists of one name stay two', () => {
  const { accessLists, hosts } = readNpm(
    ...[1, 2].flatMap((id) => [
      row('access_list', { id, name: 'home' }),
      row('access_list_client', { access_list_id: id, address: `10.0.0.${id}`, directive: 'allow' }),
      row('proxy_host', { ...app, domain_names: `["a${id}.test"]`, access_list_id: id }),
    ]),
  );
  expect(accessLists?.map(({ name }) => name)).toEqual(['home', 'home (2)']);
  expect(hosts.map(({ access_list }) => access_list)).toEqual(['home', 'home (2)']);
});
