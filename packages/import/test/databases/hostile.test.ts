import { readFiles } from '@sallyport/import';
import { expect, test } from 'vitest';
import { made, NGINX_PROXY_MANAGER, row } from './make.ts';
import { app, messages, read, readNpm } from './read.ts';

const many = (count: number) =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
   insert into proxy_host (domain_names, forward_host, forward_port) select '["h' || i || '.test"]', 'a', 80 from n`;

test.each([
  ['a view in the place of a table', made('create view proxy_host as select 1 as id'), 'neither a plain table'],
  [
    'a trigger',
    made(...NGINX_PROXY_MANAGER, 'create trigger t after insert on proxy_host begin select 1; end'),
    'neither a plain table',
  ],
  ['a virtual table', made('create virtual table proxy_host using fts5(domain_names)'), 'neither a plain table'],
  [
    'a computed column of a gigabyte',
    made(
      'create table proxy_host (id integer, domain_names as (hex(zeroblob(500000000))), forward_port, access_list_id)',
    ),
    'is computed',
  ],
  [
    'a cell that is too large',
    made(
      ...NGINX_PROXY_MANAGER,
      "insert into proxy_host (domain_names, forward_host, forward_port) values (zeroblob(2000000), 'a', 1)",
    ),
    'too big',
  ],
  ['more rows than anybody has', made(...NGINX_PROXY_MANAGER, many(50_001)), 'more than 50000 rows'],
  ['a cut end', made(...NGINX_PROXY_MANAGER).subarray(0, 9_000), 'database'],
  ['nothing but the beginning', Buffer.from('SQLite format 3\0'), 'database'],
  ['what no page is', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(20_000, 255)]), 'database'],
  ['tables of something else', made('create table t (a)'), 'neither of Nginx Proxy Manager nor of Charon'],
])('a database with %s is an error and nothing else', (_, bytes, message) => {
  const { source, hosts, errors } = read(bytes);
  expect({ source, hosts }).toEqual({ source: null, hosts: [] });
  expect(errors).toMatchObject([{ file: expect.stringMatching(/^database\.sqlite(?:: \w+)?$/), column: 1 }]);
  expect(errors[0]?.text).not.toBe('');
  expect(errors[0]?.message).toContain(message);
});

test('what a schema wants computed while it is looked at is not', () => {
  const checked = NGINX_PROXY_MANAGER.map((statement) =>
    statement.replace(
      'create table dead_host (',
      'create table dead_host (n integer check (length(hex(zeroblob(n))) >= 0), ',
    ),
  );
  const bytes = made(
    ...checked,
    'pragma ignore_check_constraints = on',
    row('dead_host', { n: 400_000_000, domain_names: '["dead.test"]' }),
    row('proxy_host', app),
  );
  expect(read(bytes).hosts).toHaveLength(1);
});

test('a damaged page anywhere is found, or does no harm', () => {
  const whole = made(...NGINX_PROXY_MANAGER, many(200));
  for (let at = 100; at < whole.length; at += 1_009) {
    const damaged = Buffer.from(whole);
    damaged[at] = 255 - (damaged[at] ?? 0);
    const { hosts, errors } = read(damaged);
    expect(errors.length > 0 || hosts.length > 0).toBe(true);
  }
});

test('an error says the table and the row', () => {
  const { errors } = read(made(...NGINX_PROXY_MANAGER, many(50_001)));
  expect(errors).toMatchObject([{ file: 'database.sqlite: proxy_host', line: 50_001 }]);
});

test('what is no id of an access list, and no yes, lets nobody in', () => {
  const guarded = [`'7x'`, `x'37'`, `-7`, `'seven'`, '7.5'].map(
    (id, index) =>
      `insert into proxy_host (domain_names, forward_host, forward_port, access_list_id) values ('["h${index}.test"]', 'a', 80, ${id})`,
  );
  const disabled = [`'no'`, `'false'`, `x'30'`, '0.0'].map(
    (value, index) =>
      `insert into proxy_host (domain_names, forward_host, forward_port, enabled) values ('["d${index}.test"]', 'a', 80, ${value})`,
  );
  const { hosts } = readNpm(...guarded, ...disabled);
  expect(hosts.map(({ enabled }) => enabled)).toEqual(Array.from({ length: 9 }, () => false));
});

test('a column that is not known and may have kept requests out switches a host off; others are told of', () => {
  const with_ = (column: string, value: string) =>
    readNpm(`alter table proxy_host add column ${column}`, row('proxy_host', { ...app, [column]: value })).hosts;
  expect(with_('basic_auth_enabled', '1')).toMatchObject([{ enabled: false }]);
  expect(with_('basic_auth_enabled', '0')[0]).not.toHaveProperty('enabled');
  const [told] = with_('colour', 'red');
  expect(told).not.toHaveProperty('enabled');
  expect(messages(told)).toContain('the column colour is not known here');
});

test('nothing that is said steers a terminal', () => {
  const evil = 'a\u001b[2Jb\u202ec\u0007\n\u009b31m';
  const { hosts, accessLists, warnings } = readNpm(
    row('access_list', { id: 7, name: evil }),
    row('access_list', { id: 8, name: evil }),
    ...[7, 8].map((id) =>
      row('access_list_client', { access_list_id: id, address: `10.0.0.${id}`, directive: 'allow' }),
    ),
    ...[7, 8].map((id) => row('proxy_host', { ...app, domain_names: `["h${id}.test"]`, access_list_id: id })),
    row('redirection_host', { domain_names: JSON.stringify([evil]), forward_domain_name: evil }),
  );
  expect(JSON.stringify({ hosts, accessLists, warnings })).not.toMatch(/\\u00|\\n|\u202e|\u009b/);
  // Two that look alike stay two.
  expect(new Set(hosts.map(({ access_list }) => access_list)).size).toBe(2);
  const named = readFiles([{ name: `x${evil}`, content: `a.test {\n reverse_proxy b\n "${evil}" y\n}\n}` }]);
  expect(JSON.stringify(named)).not.toMatch(/\\u00|\\n|\u202e|\u009b/);
});
