import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  AuditEntry,
  CertificateImport,
  CertificateInUse,
  ErrorBody,
  ReplacedCertificate,
  UploadedCertificate,
} from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, makeNamesakes, uploadForm } from '../../../../../../../test/support/certificates.ts';
import { makePkcs12 } from '../../../../../../../test/support/pkcs12.ts';
import { startApp, type TestApp } from '../../../../testing/start-app.ts';

const PASSWORD = 'a password of ours';
const signed = makeNamesakes('signed.example.com');
const pfx = makePkcs12(signed, { password: PASSWORD, others: signed.authority, how: ['-legacy'] });

let app: TestApp;
beforeAll(async () => {
  app = await startApp('sqlite');
});
afterAll(() => app?.stop());

const formOf = (fields: Record<string, string | Buffer<ArrayBuffer>>, fileName = 'site.PFX'): FormData => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(field, value);
    else form.append(field, new Blob([value]), fileName);
  }
  return form;
};

test('a PKCS #12 becomes a certificate like any other, in its place, too; its password goes nowhere', async () => {
  const form = () => formOf({ name: 'Windows', pkcs12_file: pfx, pkcs12_password: PASSWORD });
  const once = { 'idempotency-key': 'once' };
  const { status, body } = await app.send<UploadedCertificate>('POST', '/certificates/upload', form(), once);
  expect({ status, body }).toMatchObject({ status: 201, body: { name: 'Windows', domains: 'signed.example.com' } });
  expect((await app.send<UploadedCertificate>('POST', '/certificates/upload', form(), once)).body.id).toBe(body.id);

  const path = `/certificates/${body.id}`;
  const next = makePkcs12(makeCertificate(['next.example.com']), { password: PASSWORD });
  const put = formOf({ pkcs12_file: next, pkcs12_password: PASSWORD }, 'next.p12');
  const replaced = await app.send<ReplacedCertificate>('PUT', path, put);
  expect(replaced).toMatchObject({ status: 200, body: { name: 'Windows', domains: 'next.example.com' } });
  expect((await app.send<CertificateInUse>('GET', path)).body.domains).toBe('next.example.com');

  const { body: audit } = await app.send<AuditEntry[]>('GET', '/audit-logs');
  expect(JSON.stringify(audit)).not.toContain(PASSWORD);
  const entries = readdirSync(app.dataDir, { recursive: true, withFileTypes: true });
  const kept = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  // The store and its log are among them.
  expect(kept.some((file) => readFileSync(file).includes('next.example.com'))).toBe(true);
  expect(kept.filter((file) => readFileSync(file).includes(PASSWORD))).toEqual([]);
});

test('what is wrong with it is said of its field, and nothing is stored', async () => {
  const { key: _, ...alone } = signed;
  const weak = makeCertificate(['weak.example.com'], { keyCommand: ['genrsa', '-out', 'key.pem', '1024'] });
  const wrong: [Record<string, string | Buffer<ArrayBuffer>>, string, string?][] = [
    [{ pkcs12_file: pfx }, 'pkcs12_password is required: the file needs one'],
    [{ pkcs12_file: pfx, pkcs12_password: 'x' }, 'pkcs12_password is wrong'],
    [{ pkcs12_file: pfx, pkcs12_password: 'x'.repeat(5_000) }, 'pkcs12_password must be at most 4096 bytes long'],
    [{ pkcs12_password: 'x' }, 'pkcs12_password is of a pkcs12_file, which is missing'],
    [{ pkcs12_file: pfx }, 'pkcs12_file must be a .pfx or .p12 file', 'a.pem'],
    [{ pkcs12_file: Buffer.from(signed.certificate) }, 'pkcs12_file is PEM, no PKCS #12'],
    [{ pkcs12_file: pfx.subarray(0, 900) }, `pkcs12_file is cut off: 900 of its ${pfx.length} bytes are there`],
    [{ pkcs12_file: makePkcs12(alone) }, 'pkcs12_file holds no private key'],
    [{ pkcs12_file: makePkcs12(weak) }, 'pkcs12_file: an RSA key needs at least 2048 bits'],
  ];
  for (const [fields, error, name] of wrong) {
    const answer = await app.send<ErrorBody>('POST', '/certificates/upload', formOf({ name: 'x', ...fields }, name));
    expect(answer).toMatchObject({ status: 400, body: { error } });
  }
  const both = uploadForm('x', signed);
  both.set('pkcs12_file', new Blob([pfx]), 'a.pfx');
  const answer = await app.send<ErrorBody>('POST', '/certificates/upload', both);
  expect(answer.body.error).toBe('pkcs12_file has both: certificate_file and key_file must be left out');
  const large = formOf({ name: 'x', pkcs12_file: Buffer.alloc(1_100_000) });
  expect(await app.send<ErrorBody>('POST', '/certificates/upload', large)).toMatchObject({
    status: 413,
    body: { error: 'pkcs12_file must be at most 1 MiB' },
  });
});

test('an import takes them with all others, and tells of each whose password is missing or wrong', async () => {
  const [one, other, open] = ['one', 'other', 'open'].map((name) => {
    const pair = makeCertificate([`${name}.example.org`]);
    return makePkcs12(pair, name === 'open' ? {} : { password: `of ${name}` });
  }) as [Buffer<ArrayBuffer>, Buffer<ArrayBuffer>, Buffer<ArrayBuffer>];
  const bring = async (password?: string) => {
    const form = new FormData();
    const add = (name: string, content: string | Buffer<ArrayBuffer>) => form.append('file', new Blob([content]), name);
    add('store/one.bin', one);
    add('store/other.pfx', other);
    add('open.p12', open);
    add('cut.pfx', pfx.subarray(0, 100));
    add('ca.pem', signed.authority);
    if (password !== undefined) form.set('pkcs12_password', password);
    const { body } = await app.send<CertificateImport>('POST', '/certificates/import', form);
    return Object.fromEntries(body.files.map(({ file, outcome, message }) => [file, `${outcome}: ${message}`]));
  };
  expect(await bring()).toMatchObject({
    'store/one.bin': 'locked: it needs its password',
    'store/other.pfx': 'locked: it needs its password',
    'open.p12': 'imported: for open.example.org',
    'cut.pfx': `refused: it is cut off: 100 of its ${pfx.length} bytes are there`,
    'ca.pem': expect.stringMatching(/^authority/),
  });
  expect(await bring('of one')).toMatchObject({
    'store/one.bin': 'imported: for one.example.org',
    'store/other.pfx': 'locked: it has another password',
    'open.p12': 'present: it is there already',
  });
});
