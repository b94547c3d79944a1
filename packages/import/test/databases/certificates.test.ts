import { readFiles } from '@sallyport/import';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { CHARON, made, NGINX_PROXY_MANAGER, row } from './make.ts';
import { app, file, messages, read, readNpm } from './read.ts';

const mine = makeCertificate(['app.test', '*.app.test']);
const other = makeCertificate(['other.test'], { passphrase: 'a password' });
const uploaded = (id: number, meta: unknown, fields = {}) =>
  row('certificate', {
    ...{ id, provider: 'other', nice_name: 'mine', domain_names: '["app.test"]', meta: JSON.stringify(meta) },
    ...fields,
  });

test('certificates that were uploaded to Nginx Proxy Manager come along once, with what is between', () => {
  const { hosts, certificates } = readNpm(
    uploaded(3, {
      certificate: mine.certificate.trimEnd(),
      certificate_key: mine.key,
      intermediate_certificate: other.certificate,
    }),
    uploaded(4, { certificate: mine.certificate, certificate_key: mine.key }),
    uploaded(5, { certificate: mine.certificate, certificate_key: mine.key }, { nice_name: 'of nobody' }),
    row('proxy_host', app),
    row('proxy_host', { ...app, domain_names: '["www.app.test"]' }),
    row('proxy_host', { ...app, domain_names: '["two.app.test"]', certificate_id: 4 }),
    row('proxy_host', { ...app, domain_names: '["plain.test"]', certificate_id: 0 }),
  );
  expect(hosts.map(({ certificate }) => certificate)).toEqual(['mine', 'mine', 'mine (2)', undefined]);
  expect(messages(hosts[0])).not.toContain('certificate');
  expect(certificates).toEqual([
    {
      name: 'mine',
      names: ['app.test', '*.app.test'],
      certificatePem: mine.certificate + other.certificate,
      keyPem: mine.key,
    },
    { name: 'mine (2)', names: ['app.test', '*.app.test'], certificatePem: mine.certificate, keyPem: mine.key },
  ]);
});

const stored = uploaded(3, {}, { provider: 'letsencrypt' });
const beside = (...files: [string, string][]) =>
  readFiles([
    file(made(...NGINX_PROXY_MANAGER, stored, row('proxy_host', app))),
    ...files.map(([name, content]) => ({ name, content })),
  ]);

test.each([
  [
    'in use',
    ['letsencrypt/live/npm-3/fullchain.pem', mine.certificate],
    ['letsencrypt/live/npm-3/privkey.pem', mine.key],
  ],
  [
    'kept',
    ['archive/npm-3/fullchain9.pem', other.certificate],
    ['archive/npm-3/privkey9.pem', other.key],
    ['archive/npm-3/fullchain10.pem', mine.certificate],
    ['archive/npm-3/privkey10.pem', mine.key],
    ['archive/npm-3/fullchain11.pem', other.certificate],
  ],
  ['of Windows', ['npm-3\\fullchain.pem', mine.certificate], ['npm-3\\privkey.pem', mine.key]],
] as [string, ...[string, string][]][])(
  "certificates of Let's Encrypt come from the files beside the database: %s",
  (_, ...files) => {
    const { hosts, certificates } = beside(...files);
    expect(certificates).toMatchObject([{ name: 'mine', certificatePem: mine.certificate, keyPem: mine.key }]);
    // It serves until the host has one of its own.
    expect(hosts).toMatchObject([{ certificate: 'mine', auto_certificate: true }]);
  },
);

test('a certificate that is not among the files is asked for, with the place where it is', () => {
  const { hosts, certificates } = beside(
    ['letsencrypt/live/npm-33/fullchain.pem', mine.certificate],
    ['letsencrypt/live/npm-33/privkey.pem', mine.key],
    ['letsencrypt/live/npm-3/privkey.pem', mine.key],
  );
  expect(certificates).toEqual([]);
  expect(hosts[0]).not.toHaveProperty('certificate');
  expect(hosts[0]).toHaveProperty('auto_certificate', true);
  expect(messages(hosts[0])).toContain('upload letsencrypt/live/npm-3/fullchain.pem and privkey.pem');
});

test.each([
  [
    'with the key of another',
    { certificate: mine.certificate, certificate_key: makeCertificate(['b.test']).key },
    'the key of another',
  ],
  ['with a sealed key', { certificate: other.certificate, certificate_key: other.key }, 'only with a password'],
  ['that is none', { certificate: 'no PEM', certificate_key: mine.key }, 'can not be read'],
  ['without a key', { certificate: mine.certificate }, 'does not come along'],
  ['of odd types', { certificate: { pem: 1 }, certificate_key: [1] }, 'does not come along'],
  ['in what is no object', 7, 'does not come along'],
])('a certificate %s is a warning and no certificate', (_, meta, message) => {
  const { hosts, certificates } = readNpm(uploaded(3, meta), row('proxy_host', app));
  expect({ certificates, domains: hosts.map(({ domain }) => domain) }).toEqual({
    certificates: [],
    domains: ['app.test'],
  });
  expect(hosts[0]).not.toHaveProperty('auto_certificate');
  expect(messages(hosts[0])).toContain(message);
  expect(messages(hosts[0])).not.toContain('PRIVATE KEY');
});

test('a certificate that is deleted, or nowhere, is a warning', () => {
  const deleted = uploaded(3, { certificate: mine.certificate, certificate_key: mine.key }, { is_deleted: 1 });
  const { hosts, certificates } = readNpm(deleted, row('proxy_host', app));
  expect(certificates).toEqual([]);
  expect(messages(hosts[0])).toContain('its certificate 3 is not in the database');
});

test('certificates of Charon come along when their key is in the database', () => {
  const host = { domain_names: 'a.test', forward_host: 'a', forward_port: 80 };
  const { hosts, certificates } = read(
    made(
      ...CHARON,
      row('ssl_certificates', { id: 1, name: 'mine', certificate: mine.certificate, private_key: mine.key }),
      row('ssl_certificates', { id: 2, name: 'of Caddy', certificate: mine.certificate, private_key: '' }),
      row('proxy_hosts', { ...host, uuid: 'a', certificate_id: 1 }),
      row('proxy_hosts', { ...host, uuid: 'b', domain_names: 'b.test', certificate_id: 2 }),
      row('proxy_hosts', { ...host, uuid: 'c', domain_names: 'c.test', ssl_forced: 1 }),
      row('proxy_hosts', { ...host, uuid: 'd', domain_names: 'd.test' }),
    ),
  );
  const automatic = hosts.map(({ domain, auto_certificate = false }) => [domain, auto_certificate]);
  expect(automatic).toEqual([
    ['a.test', false],
    ['b.test', true],
    ['c.test', true],
    ['d.test', false],
  ]);
  expect(certificates).toMatchObject([{ name: 'mine', certificatePem: mine.certificate, keyPem: mine.key }]);
  expect(hosts[0]).toMatchObject({ certificate: 'mine' });
  expect(messages(hosts[1])).toContain('its certificate of Caddy does not come along: upload it');
});
