import { expect, test } from 'vitest';
import { readFiles } from './read-files.ts';

const read = (content: string) => readFiles([{ name: 'proxy.conf', content }]);

test.each([
  ['nginx', 'upstream app {\n  server 127.0.0.1:3000;\n}\nserver {\n  listen 80;\n}\n'],
  ['haproxy', 'frontend web\n  bind :80\n  default_backend app\n'],
  ['traefik', 'http:\n  routers:\n    app:\n      rule: Host(`a.test`)\n'],
  ['traefik', '[http.routers.app]\nrule = "Host(`a.test`)"\n'],
  ['traefik', 'services:\n  app:\n    labels:\n      - traefik.enable=true\n'],
  ['caddyfile', 'a.test {\n\treverse_proxy b\n}\n'],
])('tells %s from its text', (source, content) => {
  expect(read(content).source).toBe(source);
});

test('says of JSON that it can not be read', () => {
  const { hosts, errors, staticFiles } = read('{ "apps": { "http": {} } }\n');
  expect({ hosts, staticFiles }).toEqual({ hosts: [], staticFiles: [] });
  const message = 'this looks like JSON, which can not be imported yet';
  expect(errors).toEqual([{ file: 'proxy.conf', line: 1, column: 1, message, text: '{ "apps": { "http": {} } }' }]);
});

test('what makes sense as a Caddyfile is one, whatever its sites are called', () => {
  expect(read('{\n\temail a@b.test\n}\nserver.test {\n\treverse_proxy 127.0.0.1:1\n}\n').hosts).toMatchObject([
    { domain: 'server.test', forward_port: 1 },
  ]);
});

test('looks at what is long and nothing without getting lost in it', () => {
  for (const odd of [`upstream${' '.repeat(1_000_000)}x`, `${' '.repeat(1_000_000)}`, ';'.repeat(1_000_000)]) {
    expect(read(odd).hosts).toEqual([]);
  }
});

test('text that comes as base64 is read as text', () => {
  const content = Buffer.from('a.test {\n\treverse_proxy b:80\n}\n').toString('base64');
  expect(readFiles([{ name: 'Caddyfile', content, encoding: 'base64' }]).hosts).toMatchObject([{ domain: 'a.test' }]);
});

test("keys among the files are no configuration: they are in nobody's way, and are not quoted", () => {
  const key =
    '-----BEGIN PRIVATE KEY-----\r\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49\r\nAwEHBG0wawIBAQQgSECRET\r\n-----END PRIVATE KEY-----\r\n';
  const beside = { name: 'certs/a.key', content: key };
  for (const [source, content] of [
    [
      'nginx',
      'server {\n\tlisten 443 ssl;\n\tserver_name a.test;\n\tlocation / {\n\t\tproxy_pass http://127.0.0.1:1;\n\t}\n}\n',
    ],
    ['caddyfile', 'a.test {\n\ttls certs/a.pem certs/a.key\n\treverse_proxy 127.0.0.1:1\n}\n'],
  ] as const) {
    const main = { name: 'main', content };
    for (const files of [
      [main, beside],
      [beside, main],
      [main, { ...beside, content: `Bag Attributes\n${key}` }],
    ]) {
      const reading = readFiles(files);
      expect(reading).toMatchObject({ source, hosts: [{ domain: 'a.test' }], errors: [] });
      expect(JSON.stringify(reading)).not.toContain('SECRET');
    }
  }
  const alone = readFiles([
    beside,
    { ...beside, name: 'b', content: Buffer.from(key).toString('base64'), encoding: 'base64' },
  ]);
  expect(alone.hosts).toEqual([]);
  expect(alone.errors.map(({ file, message }) => `${file}: ${message}`)).toEqual([
    'certs/a.key: this is a certificate or a key, and no configuration',
    'b: this is a certificate or a key, and no configuration',
  ]);
  expect(JSON.stringify(alone)).not.toContain('MIGH');
});

test.each<[string, string, number, number, string]>([
  ['Caddyfile', 'a.test {\n  reverse_proxy ftp://b\n}\n', 2, 17, 'ftp://b'],
  ['Caddyfile, many words', 'a '.repeat(600_000), 1, 1_000_001, 'a a'],
  ['nginx', 'server {\n  listen 70000;\n  server_name a.test;\n}\n', 2, 10, '70000'],
  ['nginx, without a server', 'http {\n  sendfile on;\n}\n', 1, 1, 'http {'],
  ['HAProxy', 'frontend web\n  bind :80\n  use_backend "app\n', 3, 15, '"app'],
  ['HAProxy, without a name', 'backend app\n  server a 10.0.0.1:80\n', 1, 1, 'backend app'],
  ['Traefik, a rule', 'http:\n  routers:\n    a:\n      rule: Host(a)\n      service: b\n', 4, 7, 'Host(a)'],
  ['Traefik, YAML', 'http:\n  routers:\n    a: "\n', 3, 8, 'a: "'],
  ['Traefik, TOML', '[http.routers.a]\nrule = \n', 2, 8, 'rule = '],
  ['Traefik, too much', `http:\n  routers:\n${'    - a\n'.repeat(200_000)}`, 1, 1, 'http:'],
  ['Traefik, without a router', 'http:\n  routers:\n', 1, 1, 'http:'],
  ['what is nothing', 'hello\n{\n', 2, 1, '{'],
  ['a space', ' \n', 1, 1, ''],
  ['comments', '# nothing yet\n', 1, 1, ''],
  [
    'our own, a field',
    'sallyport: 1\nproxy_hosts:\n  - domain: a.test\n    forward_port: x\n',
    3,
    5,
    '{"forward_port":"x"}',
  ],
  ['our own, JSON', '{"sallyport": 1, "proxy_hosts": [\n {"domain": "a.test", "odd": 1}]}', 2, 13, '{"odd":1}'],
  ['our own, of another time', '# later\nsallyport: 9\n', 1, 1, 'sallyport: 9'],
  ['our own, no YAML', 'sallyport: 1\nproxy_hosts: "\n', 2, 14, 'proxy_hosts: "'],
])('an error says where, and what stands there: %s', (_, content, line, column, text) => {
  const [error] = read(content).errors;
  expect(error).toMatchObject({ file: 'proxy.conf', line, column });
  expect(error?.message).not.toBe('');
  expect(error?.text).toMatch(new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));
});

test.each([
  ['Caddyfile', `a.test {\n reverse_proxy b\n${'x y\n'.repeat(150_000)}}\n`, 1],
  ['Caddyfile, settings', `a.test {\n reverse_proxy b\n handle {\n${'log\n'.repeat(150_000)}}\n}\n`, 1],
  ['Caddyfile, without a proxy', `a.test {\n${'x y\n'.repeat(150_000)}}\n`, 0],
  [
    'nginx',
    `server {\n server_name a.test;\n location / {\n proxy_pass http://b;\n${'x y;\n'.repeat(150_000)}}\n}\n`,
    1,
  ],
  [
    'HAProxy',
    `defaults\n mode http\nbackend b\n server a 10.0.0.1:80\nfrontend f\n bind :80\n${' x y\n'.repeat(150_000)} use_backend b if { hdr(host) a.test }\n`,
    1,
  ],
])('hundreds of thousands of lines that nobody knows are read: %s', (_, content, hosts) => {
  expect(read(content).hosts).toHaveLength(hosts);
});
