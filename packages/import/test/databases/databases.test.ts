import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readFiles } from '@sallyport/import';
import { expect, test } from 'vitest';
import { CHARON, made, NGINX_PROXY_MANAGER, row } from './make.ts';

const file = (bytes: Buffer, name = 'database.sqlite') => ({
  name,
  content: bytes.toString('base64'),
  encoding: 'base64' as const,
});
const read = (bytes: Buffer) => readFiles([file(bytes)]);
const readNpm = (...statements: readonly string[]) => read(made(...NGINX_PROXY_MANAGER, ...statements));

const app = { domain_names: '["app.test"]', forward_host: '10.0.0.1', forward_port: 8080, certificate_id: 3 };
const certificate = row('certificate', { id: 3, provider: 'other', nice_name: 'mine', domain_names: '["app.test"]' });
const messages = (host: { warnings: { message: string }[] } | undefined) =>
  (host?.warnings ?? []).map(({ message }) => message).join('\n');

test('hosts of Nginx Proxy Manager come with what they say', () => {
  const { source, hosts, errors, accessLists } = readNpm(
    certificate,
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
  expect(messages(hosts[0])).toContain('its certificate mine is not in the database, but in custom_ssl/npm-3');
});

test('redirections, streams and hosts without an upstream are told of', () => {
  const { hosts, warnings } = readNpm(
    row('redirection_host', { domain_names: '["old.test"]', forward_domain_name: 'new.test' }),
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
    'old.test is not imported: it redirects to new.test',
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

test('changes that are still in the log beside a database are read; a torn log is read as far as it goes', () => {
  const directory = mkdtempSync(join(tmpdir(), 'import-'));
  try {
    const path = join(directory, 'charon.db');
    const database = new DatabaseSync(path);
    database.exec('pragma journal_mode = wal');
    for (const statement of CHARON) database.exec(statement);
    database.exec('pragma wal_checkpoint(truncate)');
    const host = (name: string) =>
      database.exec(
        row('proxy_hosts', { uuid: name, domain_names: `${name}.test`, forward_host: name, forward_port: 80 }),
      );
    host('a');
    const first = readFileSync(`${path}-wal`).length;
    host('b');
    const [bytes, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
    database.close();
    const readWith = (beside: Buffer) =>
      readFiles([file(beside, 'charon.db-wal'), file(bytes, 'charon.db')]).hosts.map(({ domain }) => domain);
    expect(readWith(log)).toEqual(['a.test', 'b.test']);
    expect(readWith(log.subarray(0, log.length - 1))).toEqual(['a.test']);
    const torn = Buffer.from(log);
    torn[first + 100] = 255 - (torn[first + 100] ?? 0);
    expect(readWith(torn)).toEqual(['a.test']);
    for (const nothing of [Buffer.alloc(0), Buffer.alloc(5_000, 7)]) expect(readWith(nothing)).toEqual([]);
    const alone = readFiles([file(bytes, 'charon.db')]);
    expect(alone.warnings.map(({ message }) => message).join()).toContain('upload charon.db-wal with it');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('text that comes as base64 is read as text', () => {
  const content = Buffer.from('a.test {\n\treverse_proxy b:80\n}\n').toString('base64');
  expect(readFiles([{ name: 'Caddyfile', content, encoding: 'base64' }]).hosts).toMatchObject([{ domain: 'a.test' }]);
});
