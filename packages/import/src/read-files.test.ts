import { expect, test } from 'vitest';
import { readFiles } from './read-files.ts';

const read = (content: string) => readFiles([{ name: 'proxy.conf', content }]);

test.each([
  ['JSON', '{ "apps": { "http": {} } }\n'],
  ['a configuration of nginx', 'upstream app {\n  server 127.0.0.1:3000;\n}\nserver {\n  listen 80;\n}\n'],
  ['a configuration of HAProxy', 'frontend web\n  bind :80\n  default_backend app\n'],
  ['a dynamic configuration of Traefik', 'http:\n  routers:\n    app:\n      rule: Host(`a.test`)\n'],
])('says of %s that it is no Caddyfile', (what, content) => {
  const { hosts, errors, staticFiles } = read(content);
  expect({ hosts, staticFiles }).toEqual({ hosts: [], staticFiles: [] });
  expect(errors).toEqual([
    { file: 'proxy.conf', line: 1, message: `this looks like ${what}: only Caddyfiles can be imported yet` },
  ]);
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
