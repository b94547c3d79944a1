import { expect, test } from 'vitest';
import { readCaddyfile } from './read.ts';

const read = (content: string) => readCaddyfile([{ name: 'Caddyfile', content }]);

test('a site with a reverse_proxy is a host that leads from http to https and passes WebSockets', () => {
  const { hosts, errors } = read('Example.com, www.example.com {\n\treverse_proxy localhost:8080\n}\n');
  expect(errors).toEqual([]);
  expect(hosts).toEqual([
    {
      file: 'Caddyfile',
      line: 1,
      column: 1,
      domain: 'example.com,www.example.com',
      forward_scheme: 'http',
      forward_host: 'localhost',
      forward_port: 8080,
      websocket_support: true,
      ssl_forced: true,
      warnings: [],
    },
  ]);
});

test('a site with an error says where, and others are read', () => {
  const { hosts, errors } = read('a.test {\n  reverse_proxy ftp://b\n}\nb.test {\n  reverse_proxy b\n}\n');
  expect(hosts).toMatchObject([{ domain: 'b.test', forward_host: 'b', forward_port: 80 }]);
  expect(errors).toMatchObject([{ file: 'Caddyfile', line: 2, column: 17, text: 'ftp://b' }]);
});
