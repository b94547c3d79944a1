import { expect, test } from 'vitest';
import { made, NGINX_PROXY_MANAGER, row } from './make.ts';
import { app, read } from './read.ts';

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
  expect(errors).toMatchObject([{ file: 'database.sqlite', line: 1 }]);
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
