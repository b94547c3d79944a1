import { expect, test } from 'vitest';
import { readTraefik } from '../../src/index.ts';

const read = (...texts: string[]) => {
  const { hosts, warnings, errors } = readTraefik(texts.map((content, index) => ({ name: `${index}.yml`, content })));
  const messages = (all: readonly { message: string }[] = []) => all.map(({ message }) => message);
  return { host: hosts[0], told: messages(hosts[0]?.warnings), warnings: messages(warnings), errors };
};

/** A router of a.test whose service has these lines. */
const serving = (balancer: string, router = '') =>
  `http:\n  routers:\n    a: { rule: Host(\`a.test\`), service: a${router} }\n  services:\n    a: { loadBalancer: { ${balancer} } }\n`;

test('a service leads where its first server is', () => {
  const upstream = (url: string) => {
    const { host } = read(serving(`servers: [{ url: "${url}" }]`));
    return host && [host.forward_scheme, host.forward_host, host.forward_port, host.forward_http2 ?? false];
  };
  expect(upstream('http://b.test')).toEqual(['http', 'b.test', 80, false]);
  expect(upstream('HTTPS://b.test/')).toEqual(['https', 'b.test', 443, false]);
  expect(upstream('h2c://[::1]:50051')).toEqual(['http', '::1', 50_051, true]);
  for (const none of ['xhttp://b.test', 'ftp://b.test', 'http://b.test:x', 'b.test'])
    expect(upstream(none)).toBeUndefined();
  const { warnings } = read(serving('servers: [{ url: "xhttp://b.test" }]'));
  expect(warnings.join()).toContain('its upstream xhttp://b.test is no address of a web server');
});

test('what a service says besides is told, unless it is as here', () => {
  const server = 'servers: [{ url: "http://b.test" }]';
  const told = (more: string) => read(serving(`${server}, ${more}`)).told.filter((one) => !one.includes('certificate'));
  expect(told('passHostHeader: true')).toEqual([]);
  expect(told('passHostHeader: false')).toEqual(["passhostheader: the upstream always gets the visitor's Host"]);
  expect(told('sticky: { cookie: {} }')).toEqual(['sticky: a proxy host has one upstream']);
  const path = read(serving('servers: [{ url: "http://b.test/below" }]'));
  expect(path.host?.enabled).toBe(false);
  expect(path.told).toContain('http://b.test/below: the path is left out');
});

test('the certificate of an upstream is checked unless its transport says not to', () => {
  const verifies = (transport: string) => {
    const content = serving('serversTransport: t, servers: [{ url: "https://b.test" }]');
    return read(`${content}  serversTransports:\n    t: { ${transport} }\n`).host?.forward_verify_tls;
  };
  expect(verifies('insecureSkipVerify: true')).toBe(false);
  expect(verifies('insecureSkipVerify: false')).toBe(true);
  expect(verifies('serverName: x')).toBe(true);
  expect(read(serving('serversTransport: gone, servers: [{ url: "https://b.test" }]')).told).toContain(
    'the transport gone is not in the files',
  );
});

test('a container is reached by its label, or by its name and port', () => {
  const upstream = (...labels: string[]) => {
    const lines = ['routers.a.rule=Host(`a.test`)', ...labels]
      .map((label) => `      - traefik.http.${label}\n`)
      .join('');
    const { host } = read(`services:\n  app:\n    expose: ["81"]\n    labels:\n${lines}`);
    return host && `${host.forward_scheme}://${host.forward_host}:${host.forward_port}`;
  };
  expect(upstream()).toBe('http://app:81');
  expect(upstream('services.a.loadbalancer.server.port=82')).toBe('http://app:82');
  expect(upstream('services.a.loadbalancer.server.scheme=https')).toBe('https://app:81');
  expect(upstream('services.a.loadbalancer.server.url=http://b.test:83')).toBe('http://b.test:83');
});

test('TLS is forced where an entry point has it, and asked for where its command says so', () => {
  const forced = (points: string) =>
    read(serving('servers: [{ url: "http://b.test" }]', ', entryPoints: [web]'), points).host?.ssl_forced;
  expect(forced('entryPoints:\n  web: { address: ":443", http: { tls: {} } }\n')).toBe(true);
  expect(forced('entryPoints:\n  web: { address: ":80", http: { middlewares: [] } }\n')).toBe(false);
  expect(forced('entryPoints:\n  web: { address: ":80" }\n')).toBe(false);
  const compose = (command: string) => `services:\n  traefik:\n    command: ${command}\n`;
  expect(forced(compose('--log.level=x --entrypoints.web.http.tls=true'))).toBe(true);
  expect(forced(compose('["--entrypoints.web.http.tls=true"]'))).toBe(true);
  expect(forced(compose('--entrypoints.web.address=:80'))).toBe(false);
});

test('what is said of TLS and not taken over is told, and certificates are not', () => {
  const content = `${serving('servers: [{ url: "http://b.test" }]')}tls:\n  stores: { default: {} }\n  options: { old: {} }\n`;
  const { warnings } = read(`${content}  certificates: [{ certFile: a.pem, keyFile: a.key }]\n`);
  expect(warnings.filter((one) => one.startsWith('tls '))).toEqual([
    'tls options is not taken over: only http is read',
  ]);
});

test('what has no router shows how it begins', () => {
  const { errors } = readTraefik([{ name: 'a.yml', content: '\n  \nhttp: {}\nx: y\n' }]);
  expect(errors).toEqual([
    { file: 'a.yml', line: 1, column: 1, message: 'there is no router in it', text: 'http: {}' },
  ]);
});
