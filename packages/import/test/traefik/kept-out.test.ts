import { expect, test } from 'vitest';
import { readTraefik } from '../../src/index.ts';

const service = (name: string, url: string) => `    ${name}: { loadBalancer: { servers: [{ url: "${url}" }] } }\n`;
/** A router for a.test with these fields, other routers and middlewares, and a file beside it. */
const site = (fields: string[], { routers = '', middlewares = '', more = '' } = {}) => `http:
  routers:
    app:
      rule: Host(\`a.test\`)
      service: app
${fields.map((line) => `      ${line}\n`).join('')}${routers}  services:
${service('app', 'http://10.0.0.1:80')}${service('denied', 'http://10.0.0.9:80')}  middlewares:
    password: { basicAuth: { users: ["a:b"] } }
    none: { compress: {} }
${middlewares}${more}`;
const read = (content: string, ...beside: string[]) =>
  readTraefik([content, ...beside].map((text, index) => ({ name: `${index}.yml`, content: text })));

const router = (rule: string, more = '') => `    other:\n      rule: ${rule}\n      service: denied\n${more}`;
const points = (http: string) => `entryPoints:\n  web:\n    address: ":80"\n    http: ${http}\n`;
const compose = (lines: string) => `services:\n  traefik:\n${lines}`;

test.each<[string, string, ...string[]]>([
  ['a middleware of its entry point', site(['entryPoints: [web]']), points('{ middlewares: [password@file] }')],
  ['a middleware of all entry points', site([]), points('{ middlewares: password@file }')],
  [
    'the same by the command of a container',
    site([]),
    compose('    command:\n      - --entryPoints.web.http.middlewares=password@file\n'),
  ],
  [
    'the same by its environment',
    site([]),
    compose('    environment:\n      TRAEFIK_ENTRYPOINTS_WEB_HTTP_MIDDLEWARES: password@file\n'),
  ],
  [
    'certificates of clients, for all',
    site(['tls: {}'], {
      more: 'tls: { options: { default: { clientAuth: { clientAuthType: RequireAndVerifyClientCert } } } }\n',
    }),
  ],
  ['options of TLS of its entry point', site(['entryPoints: [web]']), points('{ tls: { options: mine } }')],
  [
    'a middleware of a chain of a chain',
    site(['middlewares: [c]'], {
      middlewares: '    c: { chain: { middlewares: [d] } }\n    d: { chain: { middlewares: [none, password] } }\n',
    }),
  ],
  [
    'a middleware whose name is there twice',
    site(['middlewares: [twice@file]'], { middlewares: '    twice: { basicAuth: { users: [] } }\n' }),
    'http: { middlewares: { twice: { compress: {} } } }\n',
  ],
  [
    'a middleware behind a hundred others',
    site(['middlewares: [many, password]'], {
      middlewares: `    many: { headers: { customRequestHeaders: {}, ${Array.from({ length: 120 }, (_, n) => `x${n}: 1`).join(', ')} } }\n`,
    }),
  ],
  ['another router for some visitors', site([], { routers: router('Host(`a.test`) && !ClientIP(`10.0.0.0/8`)') })],
  [
    'another router for all names',
    site([], { routers: router('"!ClientIP(`10.0.0.0/8`)"', '      priority: 1000\n') }),
  ],
  [
    'requests below a path',
    site(['middlewares: [below]'], { middlewares: '    below: { addPrefix: { prefix: /public } }\n' }),
  ],
  ['what nobody here knows of a router', site(['guardedBy: somebody'])],
])('what kept requests out switches the host off: %s', (_, ...files) => {
  const { hosts, errors } = read(files[0]!, ...files.slice(1));
  expect(errors).toEqual([]);
  expect(hosts).toMatchObject([{ domain: 'a.test', forward_host: '10.0.0.1', enabled: false }]);
});

test.each<[string, string, ...string[]]>([
  ['another router for some paths', site([], { routers: router('Host(`a.test`) && PathPrefix(`/api`)') })],
  [
    'a router for all names that weighs less',
    site([], { routers: router('"!ClientIP(`10.0.0.0/8`)"', '      priority: 1\n') }),
  ],
  [
    'a middleware of another entry point',
    site(['entryPoints: [internal]']),
    points('{ middlewares: [password@file] }'),
  ],
  ['a redirect of the entry point', site(['tls: {}']), points('{ redirections: { entryPoint: { to: websecure } } }')],
])('what kept nobody out leaves it on: %s', (_, ...files) => {
  const { hosts, errors } = read(files[0]!, ...files.slice(1));
  expect(errors).toEqual([]);
  expect(hosts.map(({ domain, enabled }) => [domain, enabled])).toEqual([['a.test', undefined]]);
});

test('labels that a container has from elsewhere may have kept requests out', () => {
  const { hosts } = read(
    compose(
      '    extends: { service: base }\n    expose: ["80"]\n    labels: ["traefik.http.routers.a.rule=Host(`a.test`)"]\n',
    ),
  );
  expect(hosts).toMatchObject([{ domain: 'a.test', enabled: false }]);
});

test('a router that only redirects is told of, with where to and how', () => {
  const redirect =
    '    away: { redirectRegex: { regex: "^https://a.test/(.*)", replacement: "https://b.test/$1", permanent: true } }\n';
  const { warnings } = read(
    site(['middlewares: [away]'], { middlewares: redirect }).replace('service: app', 'service: noop@internal'),
  );
  expect(warnings.map(({ message }) => message)).toContain(
    'a.test is not imported: it only redirects to https://b.test/$1 for ^https://a.test/(.*) (301), and a proxy host needs an upstream',
  );
});

test('entry points that were not uploaded, and a router that is there twice, are told of', () => {
  const told = read(site([]), site([])).warnings.map(({ message }) => message);
  expect(told.join('\n')).toMatch(/routers app is there already[\s\S]*middlewares of entry points are not known/);
});
