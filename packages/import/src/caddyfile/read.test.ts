import { describe, expect, test } from 'vitest';
import { readCaddyfile } from './read.ts';

const read = (content: string, ...files: { name: string; content: string }[]) =>
  readCaddyfile([{ name: 'Caddyfile', content }, ...files]);
const site = (lines: string) => read(`a.test {\n${lines}\n}\n`);
const messages = (all: readonly { message: string }[] = []) => all.map(({ message }) => message);

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
      auto_certificate: true,
      warnings: [],
    },
  ]);
});

test.each<[string, string, boolean]>([
  ['without TLS', 'http://a.test {\n reverse_proxy b\n}\n', false],
  ['with an address of its owner', 'a.test {\n tls me@a.test\n reverse_proxy b\n}\n', true],
  ['with a file that is not there', 'a.test {\n tls a.pem a.key\n reverse_proxy b\n}\n', false],
  ["with one of Caddy's own authority", 'a.test {\n tls internal\n reverse_proxy b\n}\n', false],
  ['where Caddy orders none', '{\n auto_https disable_certs\n}\na.test {\n reverse_proxy b\n}\n', false],
  ['where Caddy only redirects none', '{\n auto_https disable_redirects\n}\na.test {\n reverse_proxy b\n}\n', true],
])('a host has its certificate by itself when Caddy would get it one: %s', (_, text, isAutomatic) => {
  const { hosts, warnings } = read(text);
  expect(hosts.map(({ auto_certificate = false }) => auto_certificate)).toEqual([isAutomatic]);
  expect(messages(warnings).some((one) => one.startsWith('Caddy has certificates by itself'))).toBe(isAutomatic);
});

test('a site with an error says where, and others are read', () => {
  const { hosts, errors } = read('a.test {\n  reverse_proxy ftp://b\n}\nb.test {\n  reverse_proxy b\n}\n');
  expect(hosts).toMatchObject([{ domain: 'b.test', forward_host: 'b', forward_port: 80 }]);
  expect(errors).toMatchObject([{ file: 'Caddyfile', line: 2, column: 17, text: 'ftp://b' }]);
});

describe('http and https', () => {
  const proxy = ' {\n reverse_proxy b\n}\n';
  test.each<[string, string, boolean]>([
    ['a name alone is redirected', `a.test${proxy}`, true],
    ['https is redirected', `https://a.test${proxy}`, true],
    ['http is not', `http://a.test${proxy}`, false],
    ['port 80 is http', `a.test:80${proxy}`, false],
    ['both are not', `http://a.test, https://a.test${proxy}`, false],
    ['both in two sites are not', `http://a.test${proxy}a.test${proxy}`, false],
    [
      'a site that only redirects is expressed by it',
      `http://a.test {\n redir https://{host}{uri}\n}\na.test${proxy}`,
      true,
    ],
    ['auto_https off', `{\n auto_https off\n}\na.test${proxy}`, false],
    ['auto_https disable_redirects', `{\n auto_https disable_redirects\n}\na.test${proxy}`, false],
    ['auto_https disable_certs', `{\n auto_https disable_certs\n}\na.test${proxy}`, true],
    ['another http_port', `{\n http_port 8080\n}\na.test:8080${proxy}`, false],
  ])('%s', (_, content, sslForced) => {
    expect(read(content).hosts).toMatchObject([{ domain: 'a.test', ssl_forced: sslForced }]);
  });

  test('a name that http sends elsewhere is told of', () => {
    const { hosts } = read('http://a.test {\n reverse_proxy other\n}\na.test {\n reverse_proxy b\n}\n');
    expect(hosts).toMatchObject([{ forward_host: 'b', ssl_forced: true }]);
    expect(messages(hosts[0]?.warnings)).toEqual([
      'the site http://a.test (Caddyfile:1) has the same name and is left out',
    ]);
  });
});

test.each<[string, string, object]>([
  ['https', 'reverse_proxy https://b', { forward_scheme: 'https', forward_port: 443, forward_verify_tls: true }],
  [
    'https without a look at the certificate',
    'reverse_proxy https://b:8006 {\n transport http {\n  tls_insecure_skip_verify\n }\n}',
    { forward_scheme: 'https', forward_port: 8006, forward_verify_tls: false },
  ],
  [
    'TLS by the transport',
    'reverse_proxy b:1 {\n transport http {\n  tls\n }\n}',
    { forward_scheme: 'https', forward_verify_tls: true },
  ],
  ['h2c', 'reverse_proxy h2c://b', { forward_scheme: 'http', forward_http2: true }],
  ['port only', 'reverse_proxy :9000', { forward_host: 'localhost', forward_port: 9000 }],
  ['the address of all', 'reverse_proxy 0.0.0.0:1', { forward_host: '127.0.0.1' }],
  ['looked up', 'reverse_proxy {\n dynamic a {\n  name b\n  port 2\n }\n}', { forward_host: 'b', forward_port: 2 }],
  [
    'HSTS',
    'reverse_proxy b\nheader Strict-Transport-Security "max-age=63072000"',
    { hsts_enabled: true, hsts_subdomains: false, warnings: [] },
  ],
  [
    'HSTS in a block',
    'reverse_proxy b\nheader {\n Strict-Transport-Security "max-age=63072000; includeSubDomains"\n}',
    { hsts_enabled: true, hsts_subdomains: true, warnings: [] },
  ],
  ['no HTTP/2 by ALPN', 'reverse_proxy b\ntls {\n alpn http/1.1\n}', { http2_support: false }],
  [
    'headers that are sent anyway',
    'reverse_proxy b {\n header_up X-Real-IP {remote_host}\n header_up Host {host}\n}',
    { warnings: [] },
  ],
])('what a proxy host can express: %s', (_, lines, expected) => {
  expect(site(lines).hosts).toMatchObject([expected]);
});

test.each<[string, string, string[]]>([
  ['several upstreams', 'reverse_proxy b c:1', ['the upstream c:1 is left out: a proxy host has one']],
  [
    'a range of ports',
    'reverse_proxy b:1-3',
    ['of the ports b:1-3 only the first is used: a proxy host has one upstream'],
  ],
  [
    'an address with a certificate',
    'reverse_proxy https://10.0.0.1',
    ['the certificate of 10.0.0.1 is not checked: that needs a name, not an address'],
  ],
  [
    'a header',
    'reverse_proxy b {\n header_up X-A b\n header_down -Server\n}',
    ['the request header X-A is not changed on the way to the upstream', "the answer's header Server is not changed"],
  ],
  [
    'health',
    'reverse_proxy b {\n health_uri /x\n}',
    ['health_uri: a proxy host does not check the health of its upstream'],
  ],
  ['a header that is no HSTS', 'reverse_proxy b\nheader X-A b', ['header X-A b: headers of answers are not changed']],
  [
    'an HSTS for lists of browsers',
    'reverse_proxy b\nheader Strict-Transport-Security "max-age=63072000; Preload"',
    ['Strict-Transport-Security is sent without preload'],
  ],
  [
    'a shorter HSTS',
    'reverse_proxy b\nheader Strict-Transport-Security max-age=1',
    ['Strict-Transport-Security is sent for two years, not for 1 s'],
  ],
  ['compression', 'reverse_proxy b\nencode gzip', ['encode gzip: answers are not compressed on the way']],
  [
    'another upstream for some',
    'reverse_proxy b\nreverse_proxy /x/* c:1',
    ['requests that match /x/* go to c:1 in the Caddyfile; a proxy host sends all to one upstream'],
  ],
  [
    'a redirect for some',
    'reverse_proxy b\nredir /x /y',
    ['requests that match /x are redirected to /y (302) in the Caddyfile; here they go to the upstream'],
  ],
  [
    'a certificate',
    'reverse_proxy b\ntls c.pem k.pem',
    ['upload the certificate c.pem with its key k.pem beside the configuration, or let one be issued'],
  ],
  ['a log', 'reverse_proxy b\nlog', ['log: the access log has its own form and place']],
  ['handle_errors', 'reverse_proxy b\nhandle_errors {\n respond x\n}', ['handle_errors is not taken over']],
])('what it can not is told, and the host stays on: %s', (_, lines, expected) => {
  const [host] = site(lines).hosts;
  expect(messages(host?.warnings)).toEqual(expected);
  expect(host).not.toHaveProperty('enabled');
});

test.each<[string, string]>([
  ['a password', 'basic_auth {\n bob x\n}\nreverse_proxy b'],
  ['a password by its old name, for some', 'basicauth /x/* {\n bob x\n}\nreverse_proxy b'],
  ['another server that says who may come', 'forward_auth auth:1 {\n uri /\n}\nreverse_proxy b'],
  ['a certificate of clients', 'tls {\n client_auth {\n  mode require\n }\n}\nreverse_proxy b'],
  ['an address that only some reach', 'bind 127.0.0.1\nreverse_proxy b'],
  ['a refusal for some', '@out not remote_ip 10.0.0.0/8\nrespond @out 403\nreverse_proxy b'],
  ['a refusal within a block', 'handle /x/* {\n abort\n}\nreverse_proxy b'],
  ['an upstream for some paths only', 'reverse_proxy /api/* b'],
  ['an upstream for one matcher only', 'route {\n handle /api/* {\n  reverse_proxy b\n }\n respond 404\n}'],
  ['what nobody here knows', 'authorize with policy\nreverse_proxy b'],
])('what kept requests out switches the host off: %s', (_, lines) => {
  const [host] = site(lines).hosts;
  expect(host).toMatchObject({ domain: 'a.test', forward_host: 'b', enabled: false });
  expect(messages(host?.warnings)[0]).toBe(
    'imported switched off: what kept requests out is not taken over (see below)',
  );
  expect(host?.warnings.length).toBeGreaterThan(1);
});

test('an address with a path is for that path only', () => {
  expect(read('a.test/x/* {\n reverse_proxy b\n}\n').hosts).toMatchObject([{ domain: 'a.test', enabled: false }]);
});

test.each<[string, string, string]>([
  ['no reverse_proxy', 'encode gzip', 'a.test is not imported: it has no reverse_proxy'],
  [
    'an answer before the upstream',
    'route {\n respond x\n reverse_proxy b\n}',
    'a.test is not imported: it only has respond',
  ],
  ['a socket', 'reverse_proxy unix//run/a', 'a.test is not imported: its upstream unix//run/a is no TCP port'],
  [
    'a placeholder',
    'reverse_proxy {host}:1',
    'a.test is not imported: its upstream {host}:1 is only known when a request comes',
  ],
  ['FastCGI', 'php_fastcgi b:9000', 'a.test is not imported: its upstream speaks fastcgi, not HTTP'],
  ['no upstream', 'reverse_proxy', 'a.test is not imported: its reverse_proxy has no upstream'],
  [
    'a name that is none',
    'reverse_proxy a!b',
    'a.test is not imported: its upstream "a!b" is not a valid host name or IP address',
  ],
  ['port 0', 'reverse_proxy b:0', 'a.test is not imported: its upstream port 0 is no port'],
])('a site that can not be a host is told of: %s', (_, lines, expected) => {
  const { hosts, warnings } = site(lines);
  expect(hosts).toEqual([]);
  expect(warnings).toContainEqual({ file: 'Caddyfile', line: 1, column: 1, message: expected });
});

test.each<[string, string]>([
  [':8080', ':8080 is not imported: a proxy host needs a name, and this site has none'],
  ['192.0.2.1', '192.0.2.1 is not imported: "192.0.2.1" must be a DNS name, not an IP address'],
  ['a.*.test', 'a.*.test is not imported: "a.*.test" is not a valid DNS name'],
])('a site without a name is told of: %s', (address, expected) => {
  const { hosts, warnings } = read(`${address} {\n reverse_proxy b\n}\n`);
  expect(hosts).toEqual([]);
  expect(messages(warnings)).toContain(expected);
});

test('a directive that is misspelt is told of when it leaves a site without an upstream', () => {
  expect(site('reverse_prxy b').warnings).toContainEqual({
    file: 'Caddyfile',
    line: 2,
    column: 1,
    message: 'reverse_prxy is no directive of Caddy itself and is not taken over',
  });
});

test('what a message quotes is short, however long it is in the file', () => {
  const { hosts, warnings } = read(
    `"${'x'.repeat(100_000)}" {\n reverse_proxy b\n}\na.test {\n reverse_proxy b\n "${'y'.repeat(100_000)}"\n}\n`,
  );
  const all = [...warnings, ...hosts.flatMap((host) => host.warnings)];
  expect(Math.max(...all.map(({ message }) => message.length))).toBe(400);
});

test('names that matchers ask for below a wildcard are hosts of their own', () => {
  const { hosts, warnings } = site('@x host x\nreverse_proxy @x never');
  expect([hosts, messages(warnings)]).toMatchObject([
    [],
    expect.arrayContaining(['a.test is not imported: it has no reverse_proxy']),
  ]);
  const wildcard = read(
    '*.a.test {\n @one host one.a.test\n handle @one {\n  reverse_proxy one\n }\n @two host two.a.test 2.a.test other.test\n' +
      ' handle @two {\n  reverse_proxy two\n }\n handle {\n  abort\n }\n}\n2.a.test {\n reverse_proxy own\n}\n',
  );
  expect(wildcard.hosts.map(({ domain, forward_host, enabled }) => [domain, forward_host, enabled])).toEqual([
    ['one.a.test', 'one', undefined],
    ['two.a.test', 'two', undefined],
    ['2.a.test', 'own', undefined],
  ]);
  expect(messages(wildcard.warnings)).toContain('*.a.test is not imported: it only has abort');
});

test('more names than a host may have become several hosts', () => {
  const names = Array.from({ length: 250 }, (_, index) => `n${index}.test`);
  const { hosts } = read(`${names.join(', ')} {\n reverse_proxy b\n}\n`);
  expect(hosts.map(({ domain }) => domain.split(',').length)).toEqual([100, 100, 50]);
});

test('a name that is there twice is an error, and the first counts', () => {
  const { hosts, errors } = read('a.test {\n reverse_proxy b\n}\nhttps://a.test:443 {\n reverse_proxy c\n}\n');
  expect(hosts).toMatchObject([{ forward_host: 'b' }]);
  expect(errors).toMatchObject([{ line: 4, column: 1, message: 'there is a site "https://a.test:443" already' }]);
});

test('a site on a port of its own is told of', () => {
  expect(messages(read('a.test:8443 {\n reverse_proxy b\n}\n').hosts[0]?.warnings)).toEqual([
    'port 8443: the host is reached at the ports that the proxy listens on',
  ]);
});

test('static files are told of wherever they are served, with their place', () => {
  const { staticFiles } = read('import f\nb.test {\n handle {\n  try_files {path} /\n  file_server\n }\n}\n', {
    name: 'f',
    content: 'a.test {\n php_fastcgi b:1\n root * /srv\n templates\n}\n',
  });
  expect(staticFiles.map(({ file, line, message }) => `${file}:${line} ${message.split(' ')[0]}`)).toEqual([
    ...['f:2 php_fastcgi', 'f:3 root', 'f:4 templates', 'Caddyfile:4 try_files', 'Caddyfile:5 file_server'],
  ]);
});

test('global options that are not taken over, and certificates, are told of', () => {
  expect(messages(read('{\n email me@a.test\n debug\n}\na.test {\n reverse_proxy b\n}\n').warnings)).toEqual([
    'the global option email is not taken over',
    expect.stringContaining('Caddy has certificates by itself, and so have these hosts here (auto_certificate)'),
  ]);
});

test('an address that listens on some addresses only, said for all sites, switches each off', () => {
  const { hosts } = read('{\n default_bind 10.0.0.1\n}\na.test {\n reverse_proxy b\n}\n');
  expect(hosts).toMatchObject([{ enabled: false }]);
});

test('many warnings of one host are counted, not listed', () => {
  const [host] = site(`reverse_proxy ${'b '.repeat(1000)}`).hosts;
  expect(host?.warnings).toHaveLength(51);
  expect(host?.warnings.at(-1)?.message).toBe('and 949 more like the last');
});

test('a redirect is told with the code that Caddy means', () => {
  const codeOf = (code: string) => messages(site(`redir https://b.test/ ${code}`).warnings).join();
  expect(codeOf('html')).toContain('200, by a page');
  expect(codeOf('permanent')).toContain('301');
  expect(codeOf('temporary')).toContain('302');
  expect(codeOf('')).toContain('302');
  expect(codeOf('308')).toContain('308');
});
