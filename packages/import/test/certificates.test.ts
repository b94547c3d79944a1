import { expect, test } from 'vitest';
import { makeCertificate } from '../../../test/support/certificates.ts';
import { readFiles, type SourceFile } from '../src/index.ts';

const mine = makeCertificate(['a.test', '*.a.test']);
const other = makeCertificate(['b.test']);
const closed = makeCertificate(['c.test'], { passphrase: 'a password' });

const file = (name: string, content: string): SourceFile => ({ name, content });
const both = ({ certificate, key }: typeof mine) => certificate + key;

/** What hosts are served with, what is told of certificates, and that no key is shown; the certificates are in the reading alone. */
const read = (...files: SourceFile[]) => {
  const { hosts, warnings, certificates = [], errors } = readFiles(files);
  expect(errors).toEqual([]);
  expect(JSON.stringify({ hosts, warnings })).not.toContain('PRIVATE KEY');
  const told = [...hosts.flatMap((host) => host.warnings), ...warnings];
  return {
    hosts: hosts.map(({ domain, certificate = null }) => [domain, certificate]),
    certificates: certificates.map(({ name, names, certificatePem, keyPem }) => [name, names, certificatePem, keyPem]),
    told: told
      .filter(({ message }) => /certificate|key\b/.test(message))
      .map(({ file: where, line, message }) => `${where}:${line} ${message}`),
  };
};

const nginx = file(
  'nginx.conf',
  `server { listen 443 ssl; server_name a.test;
  ssl_certificate /etc/letsencrypt/live/a.test/fullchain.pem;
  ssl_certificate_key /etc/letsencrypt/live/a.test/privkey.pem;
  location / { proxy_pass http://10.0.0.1; } }
server { listen 443 ssl; server_name b.test;
  ssl_certificate /etc/letsencrypt/live/b.test/fullchain.pem;
  ssl_certificate_key /etc/letsencrypt/live/b.test/privkey.pem;
  location / { proxy_pass http://10.0.0.1; } }
`,
);
const haproxy = file(
  'haproxy.cfg',
  `defaults
 mode http
frontend web
 bind :443 ssl crt /etc/haproxy/certs/
 use_backend app if { hdr(host) -i a.test }
 use_backend app if { hdr(host) -i www.a.test }
 use_backend app if { hdr(host) -i c.test }
backend app
 server one 10.0.0.1:80
`,
);
const traefik = file(
  'dynamic.yml',
  `http:
  routers:
    a: { rule: "Host(\`a.test\`)", service: app, tls: {} }
    b: { rule: "Host(\`b.test\`)", service: app, tls: {} }
    plain: { rule: "Host(\`www.a.test\`)", service: app }
  services:
    app: { loadBalancer: { servers: [{ url: "http://10.0.0.1" }] } }
tls:
  certificates:
    - certFile: /certs/a.crt
      keyFile: /certs/a.key
    - certFile: /certs/b.crt
      keyFile: /certs/b.key
`,
);
const caddy = file(
  'Caddyfile',
  `a.test, www.a.test {
 tls certs/a.pem certs/a.key
 reverse_proxy 10.0.0.1:80
}
b.test {
 tls b.pem b.key
 reverse_proxy 10.0.0.1:80
}
`,
);
const taken = [['a.test', ['a.test', '*.a.test'], mine.certificate, mine.key]];

test('nginx: the files that a server names come along; for others it is told what to upload, also those that nothing names', () => {
  const found = read(
    nginx,
    // As the command names what lies elsewhere.
    file('../letsencrypt/live/a.test/fullchain.pem', mine.certificate),
    file('live/a.test/privkey.pem', mine.key),
    file('left/over.pem', other.certificate),
  );
  expect(found).toEqual({
    hosts: [
      ['a.test', 'a.test'],
      ['b.test', null],
    ],
    certificates: taken,
    told: [
      'nginx.conf:6 upload the certificate /etc/letsencrypt/live/b.test/fullchain.pem with its key /etc/letsencrypt/live/b.test/privkey.pem beside the configuration, or let one be issued',
      'nginx.conf:1 A program beside nginx has certificates by itself, and so have these hosts here (auto_certificate): for public names as soon as there is an account with an authority, which does not come along',
      'left/over.pem:1 nothing in the configuration names this certificate or key: it is left out',
    ],
  });
});

test('HAProxy: of a directory the one that is for the name, with its key in it or beside it', () => {
  for (const files of [
    [file('certs/one.pem', both(mine))],
    [file('one.pem', mine.certificate), file('one.pem.key', mine.key)],
  ]) {
    expect(read(haproxy, ...files, file('c.pem', both(closed)))).toEqual({
      hosts: [
        ['a.test', 'a.test'],
        ['www.a.test', 'a.test'],
        ['c.test', null],
      ],
      certificates: taken,
      told: [
        'haproxy.cfg:4 each name needs a certificate: upload it with its key, PEM, beside the configuration (/etc/haproxy/certs/), or let one be issued',
      ],
    });
  }
});

test('Traefik: of the certificates of its files the one that is for the names of a router', () => {
  const found = read(traefik, file('a.crt', mine.certificate), file('a.key', mine.key));
  expect(found).toMatchObject({
    hosts: [
      ['a.test', 'a.test'],
      ['b.test', null],
      ['www.a.test', null],
    ],
    certificates: taken,
  });
  expect(found.told).toContain(
    'dynamic.yml:12 upload the certificate /certs/b.crt with its key /certs/b.key beside the configuration, or let one be issued',
  );
});

test('Caddy: what tls names', () => {
  const found = read(caddy, file('certs/a.pem', mine.certificate), file('certs/a.key', mine.key));
  expect(found).toMatchObject({
    hosts: [
      ['a.test,www.a.test', 'a.test'],
      ['b.test', null],
    ],
    certificates: taken,
  });
  expect(found.told).toContain(
    'Caddyfile:6 upload the certificate b.pem with its key b.key beside the configuration, or let one be issued',
  );
});

test.each<[string, SourceFile[], RegExp]>([
  [
    'for other names',
    [file('certs/a.pem', other.certificate), file('certs/a.key', other.key)],
    /the certificate certs\/a\.pem is for b\.test and is not taken over/,
  ],
  [
    'with the key of another',
    [file('certs/a.pem', mine.certificate), file('certs/a.key', other.key)],
    /has the key of another/,
  ],
  [
    'whose key needs a password',
    [file('certs/a.pem', closed.certificate), file('certs/a.key', closed.key)],
    /needs a password/,
  ],
  ['without its key', [file('certs/a.pem', mine.certificate)], /upload the certificate certs\/a\.pem with its key/],
  [
    'of which there are two',
    [file('x/certs/a.pem', mine.certificate), file('y/certs/a.pem', mine.certificate), file('certs/a.key', mine.key)],
    /upload the certificate certs\/a\.pem with its key/,
  ],
  [
    'that is none',
    [
      file('certs/a.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
      file('certs/a.key', mine.key),
    ],
    /the certificate certs\/a\.pem can not be read/,
  ],
  [
    'that is as large as a book',
    [file('certs/a.pem', mine.certificate.repeat(1_000)), file('certs/a.key', mine.key)],
    /certs\/a\.pem is too large/,
  ],
])('one %s is not taken, and it is told why', (_, files, expected) => {
  const { hosts, certificates, told } = read(caddy, ...files);
  expect(hosts[0]).toEqual(['a.test,www.a.test', null]);
  expect(certificates).toEqual([]);
  expect(told.join('\n')).toMatch(expected);
});

test('whatever is uploaded, no key is quoted: indented, as bytes, without its first line, or within a configuration', () => {
  const line = mine.key.split('\n')[1]!;
  const indented = mine.key.replaceAll(/^/gm, '  ');
  const bytes = Buffer.from(mine.key.replaceAll(/-----.*-----|\n/g, ''), 'base64');
  const uploads: SourceFile[][] = [
    [file('Caddyfile', `\ufeff${mine.key}`)],
    [file('Caddyfile', indented)],
    [{ ...file('Caddyfile', bytes.toString('base64')), encoding: 'base64' }],
    [haproxy, { ...file('a.der', bytes.toString('base64')), encoding: 'base64' }],
    [file('Caddyfile', bytes.toString('utf8'))],
    [haproxy, file('a.key', `${line}\n${line}\n`)],
    [file('Caddyfile', `a.test {\n tls <<KEY\n ${mine.key}`)],
    [file('nginx.conf', `server {\n server_name a.test;\n ssl_certificate_key data:${mine.key};\n}\n`)],
    [file('dynamic.yml', `http:\n  routers:\n    a: 1\ntls:\n  certificates:\n    - keyFile: "\n${indented}\n`)],
    [file('dynamic.yml', `http:\n  routers:\n    a: 1\n${indented}`)],
  ];
  for (const files of uploads) {
    const { certificates: _, ...shown } = readFiles(files);
    expect.soft(JSON.stringify(shown)).not.toContain(line.slice(0, 20));
    for (const { message } of [...shown.errors, ...shown.warnings])
      expect.soft(message).not.toMatch(/[A-Za-z0-9+/]{40}/);
  }
});
