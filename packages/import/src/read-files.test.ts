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
