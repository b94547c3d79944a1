import { expect, test } from 'vitest';
import { readHaproxy } from '../../src/index.ts';

const read = (content: string) => readHaproxy([{ name: 'haproxy.cfg', content }]);

/** A frontend for a.test with these lines before its rule, and backends; `top` stands before all. */
const site = (lines: string[], { top = 'defaults\n mode http\n', more = '' } = {}) => `${top}
frontend web
  bind :80
${lines.map((line) => `  ${line}\n`).join('')}
  use_backend app if { hdr(host) -i a.test }
backend app
  server one 10.0.0.1:80
backend denied
  server one 10.0.0.9:80
backend closed
  http-request deny unless { src 10.0.0.0/8 }
  server one 10.0.0.8:80
${more}`;

const named = 'defaults strict\n mode http\n http-request deny unless { src 10.0.0.0/8 }\ndefaults open\n mode http\n';

test.each([
  [
    'a rule of its defaults',
    site([], { top: 'defaults strict\n mode http\n http-request deny if !{ src 10.0.0.0/8 }\n' }),
  ],
  ['a rule of defaults that it names', site([], { top: named }).replace('frontend web', 'frontend web from strict')],
  [
    'a rule of defaults that its defaults stand on',
    site([], { top: `${named}defaults below from strict\n timeout client 1s\n` }),
  ],
  ['another backend for visitors, for all names', site(['acl lan src 10.0.0.0/8', 'use_backend denied if !lan'])],
  [
    'another backend for visitors, for the name',
    site(['use_backend denied if { hdr(host) -i a.test } !{ src 10.0.0.0/8 }']),
  ],
  ['the same with unless', site(['use_backend denied unless { src 10.0.0.0/8 }'])],
  ['a path whose backend is closed', site(['use_backend closed if { path_beg /admin }'])],
  ['a backend that is looked up in a map', site(['use_backend %[req.hdr(host),map(hosts)]'])],
  [
    'a redirect of some visitors',
    site(['http-request redirect location https://sso.test/ unless { req.cook(session) -m found }']),
  ],
  ['a redirect of all', site(['redirect location https://elsewhere.test/'])],
  ['tcp-request', site(['tcp-request connection reject if !{ src 10.0.0.0/8 }'])],
  ['a frontend that is switched off', site(['disabled'])],
  ['an interface', site([]).replace('bind :80', 'bind :80 interface lan0')],
  ['all requests below a path', site(['http-request set-path /public%[path]'])],
])('what kept requests out switches the host off: %s', (_, content) => {
  const { hosts, errors } = read(content);
  expect(errors).toEqual([]);
  expect(hosts).toMatchObject([{ domain: 'a.test', forward_host: '10.0.0.1', enabled: false }]);
});

test.each([
  [
    'defaults that hold for others only',
    site([], {
      top: 'defaults\n mode http\n',
      more: 'defaults\n mode http\n http-request deny\nbackend z\n server z 10.0.0.2:80\n',
    }),
  ],
  [
    'defaults before its own',
    site([], {
      top: 'defaults\n mode tcp\n http-request deny\nlisten z\n bind :1\n server z 10.0.0.2:80\ndefaults\n mode http\n',
    }),
  ],
  ['another backend for a path', site(['use_backend denied if { path_beg /other }'])],
  ['another backend for other names', site(['acl mine hdr(host) -i a.test', 'use_backend denied if !mine'])],
  [
    'a rule that is never reached',
    site([]).replace('backend app\n', '  use_backend denied if !{ src 10.0.0.0/8 }\nbackend app\n'),
  ],
  ['a redirect of a path', site(['http-request redirect location /new if { path /old }'])],
  ['pages for errors, and statistics', site(['errorfile 503 /etc/haproxy/errors/503.http', 'stats uri /stats'])],
])('what kept nobody out leaves it on: %s', (_, content) => {
  const { hosts, errors } = read(content);
  expect(errors).toEqual([]);
  expect(hosts.map(({ domain, enabled }) => [domain, enabled])).toEqual([['a.test', undefined]]);
});

test('the servers of a backend have the options of its defaults', () => {
  const { hosts } = read(site([], { top: 'defaults\n mode http\n default-server ssl verify none\n' }));
  expect(hosts).toMatchObject([{ forward_scheme: 'https', forward_verify_tls: false }]);
});

test('defaults that are not there are an error with their place', () => {
  const { errors } = read('defaults a\n mode http\nfrontend web from b\n bind :80\n');
  expect(errors).toMatchObject([{ line: 3, text: 'from b', message: 'there are no defaults b before' }]);
});

test('a section without a rule by a name is told of', () => {
  const { warnings } = read(site([], { more: 'listen db\n  bind :81\n  server one 10.0.0.2:80\n' }));
  expect(warnings.map(({ message }) => message)).toEqual([
    'listen db is not imported: it chooses no backend by a name',
  ]);
});

test('a frontend with many names and many rules is read in time that grows with both, not with their product', () => {
  const names = Array.from({ length: 5000 }, (_, index) => `use_backend app if { hdr(host) -i h${index}.test }`);
  const rules = Array.from({ length: 5000 }, (_, index) => `http-response add-header X-${index} y`);
  const { hosts } = read(site([...rules, ...names]));
  expect(hosts).toHaveLength(5001);
  expect(hosts[0]?.warnings).toHaveLength(51);
});
