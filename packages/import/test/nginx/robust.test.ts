import { expect, test } from 'vitest';
import { readFiles, readNginx } from '../../src/index.ts';
import { mutations } from '../mutations.ts';
import { ACCEPTED } from './accepted.ts';
import { REFUSED } from './refused.ts';

const MEGABYTES = 10 * 2 ** 20;
const read = (content: string) => readNginx([{ name: 'nginx.conf', content }]);
const site = 'server { server_name a.test; location / { proxy_pass http://10.0.0.1; } }';

test('files are included by path, by the end of their path and by pattern, and from the output of nginx -T', () => {
  const site = (name: string) => `server { server_name ${name}.test; location / { include snippets/proxy.conf; } }`;
  const files = [
    { name: 'nginx.conf', content: 'http { include mime.types; include /etc/nginx/sites-enabled/*.conf; }' },
    { name: 'sites-enabled/a.conf', content: site('a') },
    { name: 'sites-enabled/b.conf', content: site('b') },
    { name: 'proxy.conf', content: 'proxy_pass http://10.0.0.1;\n' },
    { name: 'sites-available/c.conf', content: 'location / { }' },
  ];
  const { hosts, errors, warnings } = readNginx(files);
  expect(errors).toEqual([]);
  expect(hosts.map(({ domain, file }) => `${domain} ${file}`)).toEqual([
    'a.test sites-enabled/a.conf',
    'b.test sites-enabled/b.conf',
  ]);
  expect(warnings).toMatchObject([{ file: 'sites-available/c.conf', line: 1 }]);
  const content = files.map((file) => `# configuration file /etc/nginx/${file.name}:\n${file.content}\n`).join('\n');
  const dumped = read(content.replace('/etc/nginx/proxy.conf', '/etc/nginx/snippets/proxy.conf'));
  expect(dumped.hosts.map(({ file, line }) => `${file}:${line}`)).toEqual([
    '/etc/nginx/sites-enabled/a.conf:1',
    '/etc/nginx/sites-enabled/b.conf:1',
  ]);
});

test('files of the server directory that stand side by side are all read', () => {
  const file = (name: string) => ({ name: `${name}.conf`, content: site.replace('a.test', `${name}.test`) });
  expect(readFiles([file('x'), file('y')]).hosts.map(({ domain }) => domain)).toEqual(['x.test', 'y.test']);
});

test('a file that is missing is an error, and the host that lacks it comes switched off', () => {
  const { hosts, errors } = read(site.replace('location', 'include auth.conf; location'));
  expect(errors).toMatchObject([{ file: 'nginx.conf', line: 1, column: 30, text: 'auth.conf' }]);
  expect(hosts).toMatchObject([{ domain: 'a.test', enabled: false }]);
});

test("a host of Nginx Proxy Manager is read without the files that are the manager's own", () => {
  const content = `server {
  set $forward_scheme https; set $server "10.0.0.7"; set $port 8443;
  listen 80; listen 443 ssl; server_name nas.test; ssl_certificate a; ssl_certificate_key b;
  include conf.d/include/letsencrypt-acme-challenge.conf; include conf.d/include/ssl-ciphers.conf;
  include conf.d/include/force-ssl.conf; include conf.d/include/block-exploits.conf;
  location / { include conf.d/include/proxy.conf; }
  include /data/nginx/custom/server_proxy[.]conf;
}`;
  const { hosts, errors } = read(content);
  expect(errors).toEqual([]);
  const expected = { domain: 'nas.test', forward_scheme: 'https', forward_host: '10.0.0.7', forward_port: 8443 };
  expect(hosts).toMatchObject([{ ...expected, ssl_forced: true }]);
  expect(hosts[0]).not.toHaveProperty('enabled');
});

test('a directive that nginx does not know may have kept requests out: the host comes switched off', () => {
  const { hosts } = read(site.replace('location', 'modsecurity on; location'));
  expect(hosts).toMatchObject([{ enabled: false }]);
  expect(hosts[0]!.warnings.at(1)).toMatchObject({
    message: expect.stringContaining('modsecurity on'),
    line: 1,
    column: 30,
  });
});

test.each([
  ['braces in each other', 'server {'.repeat(100_000)],
  ['braces alone', '{'.repeat(MEGABYTES)],
  ['semicolons', 'a;'.repeat(MEGABYTES / 2)],
  ['one word', `server ${'x'.repeat(MEGABYTES)}`],
  ['one quote', `server "${'x\\'.repeat(MEGABYTES / 2)}`],
  ['dollars', '${'.repeat(MEGABYTES / 2)],
  ['lines', '\n'.repeat(MEGABYTES)],
  ['comments', '#\n'.repeat(MEGABYTES / 2)],
  ['zeros', '\0'.repeat(MEGABYTES)],
  ['words without an end', 'a '.repeat(MEGABYTES / 2)],
  ['Lua without an end', `content_by_lua_block {${'{}'.repeat(MEGABYTES / 2)}`],
])('10 MB of %s are an error', (_, content) => {
  const { errors, hosts } = read(content);
  expect(hosts).toEqual([]);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors[0]!.text?.length ?? 0).toBeLessThanOrEqual(200);
});

test('includes that multiply, and files that include themselves, are an error', () => {
  const level = (index: number) => ({ name: `${index}.conf`, content: `include ${index + 1}.conf; `.repeat(100) });
  const files = [...Array.from({ length: 8 }, (_, index) => level(index)), { name: '8.conf', content: 'a b;' }];
  expect(readNginx(files).errors).toMatchObject([{ message: 'there are too many directives and includes' }]);
  const itself = readNginx([
    { name: 'a.conf', content: 'include b.conf;' },
    { name: 'b.conf', content: 'include a.conf;' },
  ]);
  expect(itself.errors).toMatchObject([{ file: 'b.conf', message: 'this file includes itself' }]);
  const many = Array.from({ length: 5000 }, (_, index) => ({ name: `f/${index}.conf`, content: '' }));
  const looking = Array.from({ length: 20_000 }, (_, index) => `include f/*${index}*.conf;`).join('');
  expect(readNginx([{ name: 'main', content: looking }, ...many]).errors).toHaveLength(1);
});

test.each(['server {} \\', 'server "\\', "a 'b\\"])('a backslash at the very end is an error: %s', (content) => {
  expect(read(content).errors).toMatchObject([{ line: 1, message: expect.stringMatching(/never closed|semicolon/) }]);
});

test('10,000 servers are read', () => {
  const all = Array.from({ length: 10_000 }, (_, index) => site.replace('a.test', `h${index}.test`)).join('\n');
  expect(read(`http { map $http_upgrade $c { default upgrade; }\n${all}\n}`).hosts).toHaveLength(10_000);
});

test('whatever is changed in a configuration, there is a reading', () => {
  const texts = [...ACCEPTED.map(({ text }) => text), ...REFUSED.map(([, text]) => text)];
  for (const text of mutations(texts, 600)) {
    const { hosts, errors } = read(text);
    for (const { line, message } of errors) expect.soft(line > 0 && message !== '', text).toBe(true);
    for (const { domain, forward_host } of hosts) expect.soft(domain !== '' && forward_host !== '', text).toBe(true);
  }
});
