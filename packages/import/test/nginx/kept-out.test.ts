import { expect, test } from 'vitest';
import { readNginx } from '../../src/index.ts';

const proxy = 'location / { proxy_pass http://10.0.0.1; }';
const named = (more: string) => `server { server_name a.test; ${more} }`;
const read = (content: string) => readNginx([{ name: 'nginx.conf', content }]);

test.each([
  ['Lua that says who may come in', named(`access_by_lua_file /etc/nginx/who.lua; ${proxy}`)],
  ['the same for all servers', `http { access_by_lua_file who.lua; ${named(proxy)} }`],
  ['one whose name ends like that of a known one', `http { modsecurity_allow on; ${named(proxy)} }`],
  ['a module that nobody here knows, for all servers', `http { modsecurity on; ${named(proxy)} }`],
  ['a module that asks for passwords', named(`auth_pam "in here"; ${proxy}`)],
  ['a file whose name only begins like that of a harmless one', named(`include proxy_params.local; ${proxy}`)],
  ['a token', named(`auth_jwt "in here"; ${proxy}`)],
  ['a Perl handler', named(`location / { perl main::handler; proxy_pass http://10.0.0.1; }`)],
  [
    'a password that the location of the host does not ask for, and another inherits',
    named(
      'auth_basic "in here"; location / { auth_basic off; proxy_pass http://10.0.0.1; } location /admin { proxy_pass http://10.0.0.1; }',
    ),
  ],
  [
    'the same in http',
    `http { auth_basic "in here"; ${named('location / { auth_basic off; proxy_pass http://10.0.0.1; } location /admin { proxy_pass http://10.0.0.1; }')} }`,
  ],
  ['one of two is enough', named(`satisfy any; allow 10.0.0.0/8; deny all; auth_basic x; ${proxy}`)],
  ['a limit of methods', named('location / { limit_except GET { deny all; } proxy_pass http://10.0.0.1; }')],
  ['an answer of 503', named(`if ($remote_addr !~ "^10[.]") { return 503; } ${proxy}`)],
  [
    'an answer of any status for some visitors',
    named(`if ($geoip_country_code != DE) { return 200 "not here"; } ${proxy}`),
  ],
  ['a redirect of some visitors', named(`if ($cookie_session = "") { return 302 https://login.test/; } ${proxy}`)],
  ['another path for some visitors', named(`if ($who = bad) { rewrite ^ /denied last; } ${proxy}`)],
  ['all requests below a path', named(`rewrite ^/(.*)$ /public/$1 break; ${proxy}`)],
  ['a pattern of files that were not uploaded, in a server', named(`include auth.d/*.conf; ${proxy}`)],
  ['a file that was not uploaded, for all servers', `http { include lan-only.conf; ${named(proxy)} }`],
  [
    'the same name, closed, at the usual port',
    `${named(`listen 8443 ssl; ${proxy}`)} ${named(`listen 443 ssl; auth_basic x; ${proxy}`)}`,
  ],
])('what kept requests out switches the host off: %s', (_, content) => {
  const { hosts } = read(content);
  expect(hosts).toMatchObject([{ domain: 'a.test', forward_host: '10.0.0.1', enabled: false }]);
  expect(hosts[0]?.warnings.length).toBeGreaterThan(1);
});

test.each([
  ['an answer to preflights', named(`if ($request_method = OPTIONS) { return 204; } ${proxy}`)],
  ['a redirect of a path', named(`if ($request_uri ~ ^/old) { return 301 /new; } ${proxy}`)],
  ['the same path', named(`location / { rewrite ^/(.*)$ /$1 break; proxy_pass http://10.0.0.1; }`)],
  [
    'variables of modules',
    `http { geoip2 x.mmdb { $c country; } lua_shared_dict d 1m; js_import x.js; ${named(proxy)} }`,
  ],
  ['files for all servers that may not be there', `http { include conf.d/*.conf; ${named(proxy)} }`],
  ['what stands beside Nginx Proxy Manager', named(`${proxy} include /data/nginx/custom/server_proxy[.]conf;`)],
])('what kept nobody out leaves it on: %s', (_, content) => {
  const { hosts } = read(content);
  expect(hosts.map(({ domain, enabled }) => [domain, enabled])).toEqual([['a.test', undefined]]);
});

test('patterns that fit no file are told of, and mean nothing in what nginx -T prints', () => {
  const content = `http { include conf.d/*.conf; ${named(`include auth.d/*.conf; ${proxy}`)} }`;
  const told = read(content).warnings.map(({ message }) => message);
  expect(told).toContain(
    'no file that was uploaded is meant by include conf.d/*.conf: if there are any, upload them, too',
  );
  const { hosts, warnings } = read(`# configuration file /etc/nginx/nginx.conf:\n${content}\n`);
  expect(hosts).toMatchObject([{ domain: 'a.test', warnings: [{ message: expect.stringContaining('Host') }] }]);
  expect(warnings).toEqual([]);
});

test('what has to be attended to is not among the warnings that are counted and not listed', () => {
  const headers = Array.from({ length: 80 }, (_, index) => `add_header X-${index} y;`).join(' ');
  const [host] = read(named(`${headers} location / { deny all; proxy_pass http://10.0.0.1; }`)).hosts;
  expect(host?.warnings).toHaveLength(51);
  expect(host?.warnings[1]?.message).toContain('deny all keeps addresses out');
});

test('what stands in a map is no directive, and http2 is a directive of http', () => {
  for (const content of [`map $a $b { server c; listen d; } ${named(proxy)}`, `http2 on; ${named(proxy)}`]) {
    const { hosts, errors } = read(content);
    expect([errors, hosts.map(({ domain }) => domain)]).toEqual([[], ['a.test']]);
  }
});

test('what is not allowed where it stands is an error that shows it', () => {
  expect(read(`http { ${named(`${proxy} http { }`)} }`).errors).toMatchObject([{ line: 1, text: 'http' }]);
  expect(read(`http { ${named(proxy)} } http { }`).errors).toMatchObject([
    { message: 'http is there twice', text: 'http' },
  ]);
});

test('the certificate of an upstream is checked where the configuration checks it, by the directive of its protocol', () => {
  const told = (lines: string) =>
    read(named(`location / { ${lines} }`)).hosts.map(({ forward_verify_tls, warnings }) => [
      forward_verify_tls,
      warnings.some(({ message }) => message.includes('ssl_verify')),
    ]);
  expect(told('grpc_pass grpcs://b.test:443; grpc_ssl_verify on;')).toEqual([[true, false]]);
  expect(told('grpc_pass grpcs://b.test:443; proxy_ssl_verify on;')).toEqual([[false, false]]);
  expect(told('proxy_pass https://b.test; proxy_ssl_verify on;')).toEqual([[true, false]]);
  expect(told('proxy_pass https://b.test; grpc_ssl_verify on;')).toEqual([[false, false]]);
});
