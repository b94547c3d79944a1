import { expect, test } from 'vitest';
import { readFiles, readTraefik } from '../../src/index.ts';
import { mutations } from '../mutations.ts';

const YAML = `http:
  routers:
    app:
      rule: "Host(\`App.test\`) || Host(\`www.app.test\`, \`app.example.org\`)"
      entryPoints: [websecure]
      service: app
      middlewares: [secure]
      tls:
        certResolver: le
    app-plain:
      rule: Host(\`app.test\`)
      entryPoints: [web]
      middlewares: to-https
      service: noop@internal
    api:
      rule: Host(\`app.test\`) && PathPrefix(\`/api\`)
      service: api
      tls: {}
    closed:
      rule: (Host(\`closed.test\`))
      service: self-signed
      middlewares: [password, gone@file]
    part:
      rule: Host(\`part.test\`) && (PathPrefix(\`/in\`) || !ClientIP(\`10.0.0.0/8\`))
      service: api
    all:
      rule: HostRegexp(\`.+\`)
      service: app
    spread:
      rule: Host(\`spread.test\`)
      service: spread
  services:
    app: &app
      loadBalancer:
        servers:
          - url: http://10.0.0.1:3000
          - url: http://10.0.0.2:3000
        healthCheck: { path: / }
    api: *app
    self-signed:
      loadBalancer:
        serversTransport: lax
        servers: [{ url: "https://nas.lan" }]
    spread:
      weighted: { services: [] }
  serversTransports:
    lax: { insecureSkipVerify: true }
  middlewares:
    secure: { chain: { middlewares: [hsts, squeeze] } }
    hsts: { headers: { stsSeconds: 63072000, stsIncludeSubdomains: true, frameDeny: true } }
    squeeze: { compress: {} }
    to-https: { redirectScheme: { scheme: https } }
    password: { basicAuth: { users: ["a:b"] } }
tcp: {}
`;

const TOML = `[http.routers.app]
  rule = "Host(\`app.test\`)"
  service = "app"
  [http.routers.app.tls]
[http.services]
  [http.services.app.loadBalancer]
    [[http.services.app.loadBalancer.servers]]
      url = "h2c://10.0.0.1:50051"
`;

const COMPOSE = `services:
  whoami:
    image: traefik/whoami
    expose: ["80"]
    labels:
      - traefik.enable=true
      - traefik.http.routers.who.rule=Host(\`who.test\`)
      - traefik.http.routers.who.tls=true
  app:
    labels:
      traefik.http.routers.app.rule: Host(\`app.test\`)
      traefik.http.routers.app.middlewares: auth
      traefik.http.services.app.loadbalancer.server.port: "8080"
      traefik.http.services.app.loadbalancer.server.scheme: https
      traefik.http.middlewares.auth.basicauth.users: a:b
  off:
    labels: ["traefik.enable=false", "traefik.http.routers.off.rule=Host(\`off.test\`)"]
`;

const read = (content: string) => readFiles([{ name: 'dynamic', content }]);

test.each([
  ['a router', 'certResolver: le', '{}', true],
  ['its entry point', undefined, '{ tls: { certResolver: le } }', true],
  [
    'an entry point whose word on TLS the router does not take',
    'options: none',
    '{ tls: { certResolver: le } }',
    false,
  ],
  ['nobody', 'domains: []', '{ tls: {} }', false],
])('a certificate that %s has resolved comes by itself', (_, tls, http, isAutomatic) => {
  const points = `entryPoints:\n  web:\n    http: ${http}\n`;
  const router = `routers:\n    a:\n      rule: Host("a.test")\n      entryPoints: [web]\n${tls === undefined ? '' : `      tls: { ${tls} }\n`}      service: a\n`;
  const service = 'services:\n    a:\n      loadBalancer:\n        servers:\n          - url: http://b\n';
  const { hosts, warnings, errors } = read(`${points}http:\n  ${router}  ${service}`);
  expect(errors).toEqual([]);
  expect(hosts.map(({ auto_certificate = false }) => auto_certificate)).toEqual([isAutomatic]);
  const told = [...warnings, ...(hosts[0]?.warnings ?? [])].map(({ message }) => message).join('\n');
  expect(told).toMatch(isAutomatic ? /Traefik has certificates by itself/ : /each name needs a certificate/);
});

test('routers become hosts, with what their services and middlewares say', () => {
  const { source, hosts, warnings, errors } = read(YAML);
  expect(errors).toEqual([]);
  expect(source).toBe('traefik');
  const upstream = { forward_scheme: 'http', forward_host: '10.0.0.1', forward_port: 3000, websocket_support: true };
  const hsts = { hsts_enabled: true, hsts_subdomains: true };
  expect(hosts).toMatchObject([
    { domain: 'app.test', line: 3, column: 5, ...upstream, ssl_forced: true, auto_certificate: true, ...hsts },
    { domain: 'www.app.test,app.example.org', ...upstream, ssl_forced: true, auto_certificate: true, ...hsts },
    {
      domain: 'closed.test',
      forward_scheme: 'https',
      forward_host: 'nas.lan',
      forward_port: 443,
      forward_verify_tls: false,
    },
    { domain: 'part.test', enabled: false, ssl_forced: false },
  ]);
  expect(hosts.map(({ enabled }) => enabled)).toEqual([undefined, undefined, false, false]);
  const messages = hosts.map((host) => host.warnings.map(({ message }) => message).join('\n'));
  expect(messages[0]).toMatch(/10\.0\.0\.2:3000 is left out/);
  expect(messages[0]).toMatch(/healthcheck[\s\S]*framedeny[\s\S]*compress[\s\S]*PathPrefix/);
  expect(messages[2]).toMatch(/password asks for a password[\s\S]*gone@file is not in the files/);
  expect(messages[3]).toMatch(/only requests for PathPrefix\(\/in\), not ClientIP/);
  const told = warnings.map(({ message, line }) => `${line} ${message}`).join('\n');
  expect(told).toMatch(/^\d+ tcp is not taken over/m);
  expect(told).toMatch(/router all is not imported/);
  expect(told).toMatch(/spread\.test is not imported/);
});

test('the same in TOML, with the lines of its tables', () => {
  const { hosts, errors } = read(TOML);
  expect(errors).toEqual([]);
  const upstream = { forward_scheme: 'http', forward_host: '10.0.0.1', forward_port: 50_051, forward_http2: true };
  expect(hosts).toMatchObject([{ domain: 'app.test', line: 1, ssl_forced: true, ...upstream }]);
});

test('labels of containers, in both forms', () => {
  const { hosts, errors } = read(COMPOSE);
  expect(errors).toEqual([]);
  expect(hosts).toMatchObject([
    { domain: 'who.test', forward_host: 'whoami', forward_port: 80, ssl_forced: true },
    { domain: 'app.test', forward_scheme: 'https', forward_host: 'app', forward_port: 8080, enabled: false },
  ]);
  expect(hosts[0]!.warnings.map(({ message }) => message).join()).toContain('has to be reachable from here');
});

test.each([
  ['Host(`a.test`', /never closed|without quotes/],
  ['Host(a.test)', /can not be read from/],
  ['Host(a)', /without quotes/],
  ['Host(`a.test`) &&', /no matcher/],
  ['Host(`a.test`) Host(`b.test`)', /goes on/],
  ['Host(`a.test`) | x', /can not be read from/],
  ['('.repeat(60), /too many levels/],
])('a rule that is none is an error with its place: %s', (rule, message) => {
  const { hosts, errors } = read(`http:\n  routers:\n    a:\n      rule: '${rule}'\n      service: b\n`);
  expect(hosts).toEqual([]);
  expect(errors).toMatchObject([{ line: 4, column: 7, message: expect.stringMatching(message) }]);
});

test('aliases that multiply, levels without end and megabytes of garbage are an error', () => {
  const head = 'http:\n  routers:\n';
  const lines = Array.from(
    { length: 30 },
    (_, index) => `    a${index + 1}: &a${index + 1} { x: *a${index}, y: *a${index}, z: *a${index} }`,
  );
  for (const content of [
    `${head}    a0: &a0 { x: 1 }\n${lines.join('\n')}\n`,
    `${head}    a: &a { b: *a }\n`,
    `${head}    a: ${'['.repeat(100_000)}`,
    `${head}    a:\n      ${'- '.repeat(100_000)}`,
    `${head}    a: *nothing\n`,
    `${head}    a: "\n`,
    `${head}${'x'.repeat(10 * 2 ** 20)}`,
    `${head}${'- a\n'.repeat(1_000_000)}`,
    `${head}    a: [${'a,'.repeat(1_000_000)}]`,
    `[http.routers.a]\nb = ${'['.repeat(100_000)}`,
    '[http.routers.a]\nb = \n',
  ]) {
    const { hosts, errors } = readTraefik([{ name: 'dynamic', content }]);
    expect.soft(hosts).toEqual([]);
    expect.soft(errors, content.slice(0, 60)).toHaveLength(1);
    expect.soft(errors[0]!.text?.length ?? 0).toBeLessThanOrEqual(200);
  }
});

test('whatever is changed in a configuration, there is a reading', () => {
  for (const text of mutations([YAML, TOML, COMPOSE], 300)) {
    const { hosts, errors } = readTraefik([{ name: 'dynamic', content: text }]);
    for (const { line, message } of errors) expect.soft(line > 0 && message !== '', text).toBe(true);
    for (const { domain, forward_host } of hosts) expect.soft(domain !== '' && forward_host !== '', text).toBe(true);
  }
});
