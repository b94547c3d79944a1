import { expect, test } from 'vitest';
import { readFiles } from '../read-files.ts';

const read = (content: string, name = 'sallyport.yaml') => readFiles([{ name, content }]);
const messagesOf = (notes: readonly { message: string; line: number }[] | undefined) =>
  (notes ?? []).map(({ line, message }) => `${line}: ${message}`);

const DOCUMENT = {
  sallyport: 1,
  settings: { 'audit.retention_days': 90 },
  security: {},
  access_lists: [
    { name: 'office', type: 'allow', rules: [{ cidr: '10.0.0.0/8' }] },
    { name: 'unused', type: 'deny' },
  ],
  proxy_hosts: [
    {
      domain: 'A.example.com,b.example.com',
      name: 'app',
      forward_host: '127.0.0.1',
      forward_port: 3000,
      waf_inspect_responses: true,
      waf_body_limit: 1024,
      access_list: 'office',
    },
    {
      ...{
        domain: 'c.example.com',
        forward_scheme: 'https',
        forward_host: 'app.lan',
        forward_port: 3001,
        enabled: false,
      },
      ...{ certificate: 'wildcard', remote_server: 'rack' },
    },
  ],
};
const HOSTS = [
  {
    domain: 'a.example.com,b.example.com',
    name: 'app',
    forward_scheme: 'http',
    forward_port: 3000,
    waf_inspect_responses: true,
    waf_body_limit: 1024,
    access_list: 'office',
  },
  { domain: 'c.example.com', forward_scheme: 'https', forward_host: 'app.lan', enabled: false },
];

test('a configuration of ours is told from its content, JSON or YAML, with the places of its hosts', () => {
  const json = read(`${JSON.stringify(DOCUMENT, null, 2)}\n`, 'sallyport.json');
  expect(json).toMatchObject({ source: 'sallyport', hosts: HOSTS, errors: [], staticFiles: [] });
  const lines = JSON.stringify(DOCUMENT, null, 2).split('\n');
  expect(json.hosts.map(({ line }) => lines[line - 1]?.trim())).toEqual([
    '"domain": "A.example.com,b.example.com",',
    '"domain": "c.example.com",',
  ]);
  const yaml = read(`# ours\nsallyport: 1\nproxy_hosts:
  - domain: A.example.com,b.example.com
    forward_host: 127.0.0.1
    forward_port: 3000
  - domain: c.example.com # another
    forward_host: app.lan
    forward_port: 3001
`);
  expect(yaml).toMatchObject({ source: 'sallyport', errors: [], warnings: [] });
  expect(yaml.hosts.map(({ domain, line }) => `${domain} ${line}`)).toEqual([
    'a.example.com,b.example.com 4',
    'c.example.com 7',
  ]);
});

test('what a session does not bring is told, with what does', () => {
  const { hosts, warnings, accessLists } = read(JSON.stringify(DOCUMENT), 'mine.json');
  expect(messagesOf(warnings)).toEqual(['1: not taken over: settings; "sallyport apply mine.json" makes all of it so']);
  expect(accessLists?.map(({ name }) => name)).toEqual(['office']);
  expect(messagesOf(hosts[0]?.warnings)).toEqual([]);
  expect(messagesOf(hosts[1]?.warnings)).toEqual([
    '1: its certificate wildcard is in no export: choose it here, or upload it',
    '1: its link to the remote server rack is not taken over',
  ]);
});

test('a host whose list is not there, or is none, comes switched off', () => {
  const { access_lists: _, ...rest } = DOCUMENT;
  for (const document of [rest, { ...DOCUMENT, access_lists: [{ name: 'office' }] }]) {
    const [host] = read(JSON.stringify(document)).hosts;
    expect(host).toMatchObject({ enabled: false });
    expect(host).not.toHaveProperty('access_list');
    expect(messagesOf(host?.warnings).join()).toContain('its access list office is not in the file');
  }
});

test('what is wrong with one host is an error with its place, and the others are read', () => {
  const good = { domain: 'a.example.com', forward_host: '127.0.0.1', forward_port: 1 };
  const wrong = [
    { ...good, forward_port: '1' },
    { ...good, forwardPort: 1 },
    { domain: 'a.example.com' },
    { ...good, waf_body_limit: { evil: true } },
    'text',
    null,
  ];
  const { hosts, errors } = read(JSON.stringify({ sallyport: 1, proxy_hosts: [...wrong, good] }));
  expect(hosts).toHaveLength(1);
  expect(messagesOf(errors)).toEqual([
    '1: proxy_hosts[0]: forward_port is no integer',
    '1: proxy_hosts[1]: forwardPort is not a known field',
    '1: proxy_hosts[2]: forward_host is required',
    expect.stringMatching(/^1: proxy_hosts\[3\]: waf_body_limit is no /),
    '1: proxy_hosts[4]: is no object',
    '1: proxy_hosts[5]: is no object',
  ]);
  expect(messagesOf(read('sallyport: 1\nproxy_hosts: none\n').errors)).toEqual([
    '1: there is nothing in it that could be imported',
  ]);
});

test('a million hosts that are none, and no names to look for, do not take for ever', () => {
  for (const host of ['{}', '{"domain":1}', '{"domain":"\\u0061.test"}']) {
    const { hosts, errors } = read(`{"sallyport":1,"proxy_hosts":[${Array(200_000).fill(host).join()}]}`);
    expect(hosts).toEqual([]);
    expect(errors).toHaveLength(1_000);
  }
});

test('another version, no YAML, and bombs are errors', () => {
  const told = (content: string) => messagesOf(read(content).errors);
  expect(told('sallyport: 2\n')).toEqual(['1: sallyport must be 1: this is another version of the format']);
  expect(told('sallyport: 1\nproxy_hosts: [\n')[0]).toMatch(/^\d+: this is no YAML: /);
  const bomb = ['sallyport: 1', 'a0: &a0 [x,x,x,x,x,x,x,x,x]'];
  for (let depth = 1; depth < 9; depth += 1) bomb.push(`a${depth}: &a${depth} [${Array(9).fill(`*a${depth - 1}`)}]`);
  expect(told(bomb.join('\n'))[0]).toContain('alias');
  expect(told(`sallyport: 1\na: ${'['.repeat(50_000)}`)).toHaveLength(1);
  expect(told(`sallyport: 1\na: ${'['.repeat(40)}${']'.repeat(40)}`)).toEqual([
    '1: this is no YAML: it is nested too deeply',
  ]);
  expect(told(`sallyport: 1\nproxy_hosts:\n${'- a\n'.repeat(300_000)}`)).toEqual([
    '1: there are more than 1000000 words and marks in it: write it as JSON, which may have more',
  ]);
  const twice = read('sallyport: 1\nproxy_hosts:\n  - domain: a.test\n    enabled: true\n    enabled: false\n').errors;
  expect(twice).toMatchObject([
    { line: 5, column: 5, message: 'this is no YAML: the key enabled is there twice', text: 'enabled: false' },
  ]);
  // On one long line, too, what is shown is what is wrong; and a key a line is not compared with all before it.
  const long = `sallyport: 1\na: [${'x, '.repeat(1_000)}"offending" "text"]\n`;
  expect(read(long).errors[0]?.text).toContain('"offending" "text"');
  const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}: 1\n`).join('');
  expect(read(`sallyport: 1\n${keys}`).source).toBe('sallyport');
  expect(
    messagesOf(
      readFiles([
        { name: 'a', content: 'sallyport: 1' },
        { name: 'b', content: '' },
      ]).warnings,
    ),
  ).toEqual(['1: is not read: a configuration is one file']);
});
