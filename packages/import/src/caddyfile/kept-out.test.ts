import { expect, test } from 'vitest';
import { readCaddyfile } from './read.ts';

const read = (content: string, ...files: { name: string; content: string }[]) =>
  readCaddyfile([{ name: 'Caddyfile', content }, ...files]);
const site = (lines: string) => `a.test {\n${lines}\n}\n`;

test.each<[string, string]>([
  [
    'an answer of 200 for some visitors',
    site('@out not remote_ip 10.0.0.0/8\nrespond @out "not here"\nreverse_proxy b'),
  ],
  ['an answer of 503', site('@out not remote_ip 10.0.0.0/8\nrespond @out 503\nreverse_proxy b')],
  [
    'a redirect of some visitors',
    site('@out not client_ip private_ranges\nredir @out https://login.test\nreverse_proxy b'),
  ],
  [
    'a redirect within a block',
    site('@out expression `{remote_host} != "x"`\nhandle @out {\n redir /login\n}\nhandle {\n reverse_proxy b\n}'),
  ],
  [
    'another upstream for some visitors',
    site('@out not remote_ip 10.0.0.0/8\nreverse_proxy @out denied:1\nreverse_proxy b'),
  ],
  [
    'another upstream for those without a header',
    site('@out not header X-Token secret\nreverse_proxy @out denied:1\nreverse_proxy b'),
  ],
  ['files for some visitors', site('@out remote_ip 10.0.0.0/8\nroute {\n file_server @out\n reverse_proxy b\n}')],
  ['a password of a snippet', `(auth) {\n basic_auth {\n  bob x\n }\n}\n${site('import auth\nreverse_proxy b')}`],
  ['files that were not uploaded', site('import auth/*.caddy\nreverse_proxy b')],
  ['files that were not uploaded, within a block', site('handle {\n import auth/*.caddy\n reverse_proxy b\n}')],
  ['requests below a path', site('rewrite * /public{uri}\nreverse_proxy b')],
  ['requests below a path, by the proxy', site('reverse_proxy b {\n rewrite /public{uri}\n}')],
  [
    'a certificate of clients, within a block',
    site('handle {\n tls {\n  client_auth {\n   mode require\n  }\n }\n reverse_proxy b\n}'),
  ],
  ['an address, within a block', site('route {\n bind 127.0.0.1\n reverse_proxy b\n}')],
  ['the same name, refused at the usual port', `a.test:8443 {\n reverse_proxy b\n}\n${site('abort')}`],
])('what kept requests out switches the host off: %s', (_, content) => {
  const { hosts, errors } = read(content);
  expect(errors).toEqual([]);
  expect(hosts).toMatchObject([{ domain: 'a.test', forward_host: 'b', enabled: false }]);
  expect(hosts[0]?.warnings.length).toBeGreaterThan(1);
});

test.each<[string, string]>([
  ['a redirect of a path', site('redir /old /new 301\nreverse_proxy b')],
  ['an answer at a path', site('respond /health 200\nreverse_proxy b')],
  [
    'another upstream for WebSockets',
    site('@ws {\n header Connection *Upgrade*\n header Upgrade websocket\n}\nreverse_proxy @ws c:1\nreverse_proxy b'),
  ],
  ['another upstream for all but a path', site('@x not path /api/*\nroute @x {\n reverse_proxy c\n}\nreverse_proxy b')],
  ['the same upstream for some visitors', site('@in remote_ip 10.0.0.0/8\nreverse_proxy @in b\nreverse_proxy b')],
  ['a path that is the same', site('handle_path /* {\n reverse_proxy b\n}')],
])('what kept nobody out leaves it on: %s', (_, content) => {
  const { hosts, errors } = read(content);
  expect(errors).toEqual([]);
  expect(hosts).toMatchObject([{ domain: 'a.test', forward_host: 'b' }]);
  expect(hosts[0]).not.toHaveProperty('enabled');
});

test.each(['log', 'tls a@b.test', 'bind 0.0.0.0'])('%s within a block is told of', (line) => {
  const [host] = read(site(`handle {\n ${line}\n reverse_proxy b\n}`)).hosts;
  const [name] = line.split(' ');
  expect(host).not.toHaveProperty('enabled');
  expect(host?.warnings).toContainEqual({
    file: 'Caddyfile',
    line: 3,
    column: 2,
    message: `${name} stands within another block, where Caddy does not take it`,
  });
});

test.each([
  ['redir https://b.test{uri}', 'https://b.test{uri} (302)'],
  ['redir https://b.test permanent', 'https://b.test (301)'],
  ['redir * https://b.test 308', 'https://b.test (308)'],
])('a site that only redirects is told of, with where to and how: %s', (line, told) => {
  expect(read(site(line)).warnings).toContainEqual({
    ...{ file: 'Caddyfile', line: 2, column: 1 },
    message: `a.test is not imported: it only redirects to ${told}, and a proxy host needs an upstream`,
  });
});

test('redirects of some requests are told of, where the site is a host, where it is none and where it is left out', () => {
  const redirects = 'redir /old /new permanent\nhandle /gone/* {\n redir https://c.test 308\n}';
  const told = (list: readonly { line: number; message: string }[] = []) =>
    list.filter(({ message }) => message.includes('redirect')).map(({ line, message }) => `${line} ${message}`);
  expect(told(read(site(`${redirects}\nreverse_proxy b`)).hosts[0]?.warnings)).toEqual([
    '2 requests that match /old are redirected to /new (301) in the Caddyfile; here they go to the upstream',
    '3 requests that match /gone/* are redirected to https://c.test (308) in the Caddyfile; here they go to the upstream',
  ]);
  expect(told(read(site(redirects)).warnings)).toEqual([
    '2 requests that match /old are not redirected to /new (301) here',
    '4 some requests are not redirected to https://c.test (308) here',
  ]);
  const plain = 'http://a.test {\n redir http://d.test 307\n}\nhttps://a.test {\n reverse_proxy b\n}\n';
  expect(told(read(plain).hosts[0]?.warnings)).toEqual([
    '4 the site http://a.test (Caddyfile:1) has the same name and is left out: it redirects to http://d.test (307)',
  ]);
});

test.each(['constructor', '__proto__', 'hasOwnProperty'])('an upstream may be called %s', (name) => {
  const { hosts } = read(site(`reverse_proxy ${name}:80`));
  expect(hosts).toMatchObject([{ forward_host: name.toLowerCase() }]);
});
