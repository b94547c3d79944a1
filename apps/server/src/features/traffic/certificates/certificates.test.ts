import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openArchive } from '@sallyport/backup/format/open-archive';
import { KNOWN_PARTS } from '@sallyport/backup/shelf/make-backup';
import type { Backup, Certificate, ErrorBody, ProxyHost, UploadedCertificate } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, makeNamesakes, uploadForm } from '../../../../../../test/support/certificates.ts';
import { createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('certificates', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterAll(() => app.stop());

  const upload = <T = UploadedCertificate>(form: FormData) => app.send<T>('POST', '/certificates/upload', form);
  const list = async () => (await app.send<Certificate[]>('GET', '/certificates')).body;

  test('stores a matching pair and lists it', async () => {
    const { status, body } = await upload(
      uploadForm('Site', makeCertificate(['Site.example.com', '*.site.example.com'])),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'Site', provider: 'custom', domains: 'site.example.com,*.site.example.com' });
    const listed = (await list()).find(({ id }) => id === body.id);
    expect(Date.parse(listed?.expires_at ?? '')).toBeGreaterThan(Date.now());
    expect(JSON.stringify(listed)).not.toContain('PRIVATE');
  });

  test('takes a certificate for 100 names', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `n${index}.many.example.com`);
    const { status, body } = await upload(uploadForm('Many', makeCertificate(names)));
    expect(status).toBe(201);
    expect(body.domains.split(',')).toHaveLength(100);
  });

  test('takes an expired certificate with a warning', async () => {
    const { status, body } = await upload(uploadForm('Old', makeCertificate(['old.example.com'], { days: -1 })));
    expect(status).toBe(201);
    expect(body.warning).toMatch(/expired/);
  });

  const pair = makeCertificate(['bad.example.com']);
  const other = makeCertificate(['other.example.com']);
  const without = (field: string) => {
    const form = uploadForm('Bad', pair);
    form.delete(field);
    return form;
  };
  const renamed = (field: string, content: string, filename: string) => {
    const form = uploadForm('Bad', pair);
    form.set(field, new Blob([content]), filename);
    return form;
  };
  test.each([
    ['no name', without('name'), 'name is required'],
    ['no certificate', without('certificate_file'), 'certificate_file is required, or pkcs12_file'],
    ['no key', without('key_file'), 'key_file is required'],
    [
      'a file that is not PEM',
      renamed('certificate_file', 'hello', 'a.crt'),
      'certificate_file is not a PEM certificate',
    ],
    [
      'PEM around garbage',
      renamed('certificate_file', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'a.crt'),
      'certificate_file: certificate 1 can not be parsed',
    ],
    ['a key that is not PEM', renamed('key_file', 'hello', 'a.key'), 'key_file is not a PEM private key'],
    ['a foreign key', renamed('key_file', other.key, 'a.key'), 'key_file does not match the certificate'],
    [
      'a certificate of another chain',
      renamed('certificate_file', pair.certificate + other.certificate, 'a.pem'),
      'certificate_file holds a certificate that is not part of the chain',
    ],
    [
      'another file type',
      renamed('certificate_file', pair.certificate, 'a.txt'),
      'certificate_file must be a .crt or .pem file',
    ],
    [
      'an encrypted key',
      renamed('key_file', makeCertificate(['bad.example.com'], { passphrase: 'x' }).key, 'a.key'),
      'key_file is encrypted; upload the key without a passphrase',
    ],
  ])('refuses %s and stores nothing', async (_what, form, error) => {
    const before = (await list()).length;
    expect(await upload<ErrorBody>(form)).toMatchObject({ status: 400, body: { error, code: 400 } });
    expect(await list()).toHaveLength(before);
  });

  test('refuses files over 1 MiB', async () => {
    for (const bytes of [1_100_000, 10_000_000]) {
      const { status } = await upload(renamed('certificate_file', 'x'.repeat(bytes), 'a.crt'));
      expect(status).toBe(413);
    }
  });

  test('refuses a body that is no form', async () => {
    expect((await app.send('POST', '/certificates/upload', { name: 'x' })).status).toBe(400);
  });

  test.each([
    ['no boundary', 'multipart/form-data', '--x--'],
    ['no part', 'multipart/form-data; boundary=x', 'garbage'],
    [
      'a part without an end',
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\na',
    ],
  ])('refuses a form with %s as one, not as a fault of the service', async (_what, type, body) => {
    const answer = await app.send<ErrorBody>('POST', '/certificates/upload', body, { 'content-type': type });
    expect(answer).toMatchObject({ status: 400, body: { error: 'body must be a valid multipart form', code: 400 } });
  });

  const ec = (curve: string) => ['ecparam', '-name', curve, '-genkey', '-noout', '-out', 'key.pem'];
  const generated = (...how: string[]) => ['genpkey', ...how, '-out', 'key.pem'];
  test.each([
    ['RSA', generated('-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048')],
    ['P-384', ec('secp384r1')],
    ['P-521', ec('secp521r1')],
    ['Ed25519', generated('-algorithm', 'ed25519')],
  ])('takes a key of kind %s', async (kind, keyCommand) => {
    const form = uploadForm(kind, makeCertificate([`${kind}.example.com`], { keyCommand }));
    expect((await upload(form)).status).toBe(201);
  });

  test.each([
    [
      'an RSA key that OpenSSL would not serve',
      generated('-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'),
      'key_file: an RSA key needs at least 2048 bits',
    ],
    [
      'a curve that no browser knows',
      ec('secp256k1'),
      'key_file: an EC key must be on the curve P-256, P-384 or P-521',
    ],
  ])('refuses %s', async (_what, keyCommand, error) => {
    const form = uploadForm('Unusable', makeCertificate(['unusable.example.com'], { keyCommand }));
    expect(await upload<ErrorBody>(form)).toMatchObject({ status: 400, body: { error } });
  });

  test('takes a chain that holds a certificate twice', async () => {
    const twice = { certificate: pair.certificate + pair.certificate, key: pair.key };
    expect((await upload(uploadForm('Twice', twice))).status).toBe(201);
  });

  test('takes the certificate of who signed it, and not that of a namesake', async () => {
    const { certificate, key, authority, namesake } = makeNamesakes('signed.example.com');
    const send = (issuer: string) =>
      upload<ErrorBody>(uploadForm('Signed', { certificate: certificate + issuer, key }));
    expect(await send(namesake)).toMatchObject({
      status: 400,
      body: { error: 'certificate_file holds a certificate that is not part of the chain' },
    });
    expect((await send(authority)).status).toBe(201);
  });

  test('says that the proxy lacks it while no HAProxy runs', async () => {
    const { body } = await upload(uploadForm('Waiting', makeCertificate(['waiting.example.com'])));
    expect(body.warning).toContain('HAProxy');
  });

  test.each(['abc', '0', '-1', '1.5', '99999999999'])('calls %j an invalid id', async (id) => {
    const answer = await app.send<ErrorBody>('DELETE', `/certificates/${id}`);
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid id' } });
  });

  test('knows no certificate that was never there', async () => {
    expect((await app.send('DELETE', '/certificates/424242')).status).toBe(404);
  });

  const host = (domain: string, fields: object = {}) =>
    app.send<ProxyHost>('POST', '/proxy-hosts', { domain, forward_host: '127.0.0.1', forward_port: 1, ...fields });
  const IN_USE = { status: 409, body: { error: 'certificate is in use by one or more proxy hosts', code: 409 } };

  test('keeps a certificate that a host names', async () => {
    const { body } = await upload(uploadForm('Chosen', makeCertificate(['unrelated.example.com'])));
    const user = (await host('chosen.example.com', { certificate_id: body.id })).body;
    expect(await app.send('DELETE', `/certificates/${body.id}`)).toMatchObject(IN_USE);
    await app.send('PUT', `/proxy-hosts/${user.uuid}`, { certificate_id: null });
    expect((await app.send('DELETE', `/certificates/${body.id}`)).status).toBe(200);
  });

  test('keeps the certificate a host is served with by name, until a better one is there', async () => {
    const first = (await upload(uploadForm('First', makeCertificate(['*.match.example.com'])))).body;
    await host('www.match.example.com');
    expect(await app.send('DELETE', `/certificates/${first.id}`)).toMatchObject(IN_USE);
    await upload(uploadForm('Renewed', makeCertificate(['www.match.example.com'], { days: 60 })));
    expect((await app.send('DELETE', `/certificates/${first.id}`)).status).toBe(200);
  });

  test('makes a backup before it deletes, with the key still sealed', async () => {
    const { body } = await upload(uploadForm('Backed up', makeCertificate(['backup.example.com'])));
    const deleted = await app.send<{ message: string }>('DELETE', `/certificates/${body.id}`);
    expect(deleted).toMatchObject({ status: 200, body: { message: expect.any(String) } });
    const { headers } = await createGiven(app).administrator();
    const [newest] = (await app.send<Backup[]>('GET', '/backups', undefined, headers)).body;
    expect(newest).toMatchObject({ kind: 'automatic', reason: 'before-certificate-delete', encrypted: false });
    const path = join(app.dataDir, 'backups', newest?.name ?? '');
    expect(statSync(path).mode & 0o077).toBe(0);
    const archive = await openArchive(path, { known: KNOWN_PARTS });
    let content = '';
    for await (const { rows } of archive.tables()) content += JSON.stringify(rows);
    await archive.close();
    expect(content).toContain(body.uuid);
    expect(content).not.toContain('PRIVATE KEY');
    expect((await list()).some(({ id }) => id === body.id)).toBe(false);
  });
});
