import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSelfSignedCertificate } from './self-signed-certificate.ts';

test('a certificate names its hosts, is no authority, and is signed by the key that comes with it', async () => {
  const validFrom = new Date('2026-11-22T10:20:30Z');
  const made = await createSelfSignedCertificate({
    names: ['a.example', '*.b.example', '127.0.0.1'],
    validFrom,
    validDays: 10,
  });
  const certificate = new X509Certificate(made.certificate);
  expect(certificate.subjectAltName).toBe('DNS:a.example, DNS:*.b.example, IP Address:127.0.0.1');
  expect([certificate.subject, certificate.issuer]).toEqual(['CN=a.example', 'CN=a.example']);
  expect([certificate.validFromDate, certificate.validToDate]).toEqual([validFrom, new Date('2026-12-02T10:20:30Z')]);
  expect(certificate.ca).toBe(false);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(made.key))).toBe(true);
  expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
});

test('no two have a number or a key in common', async () => {
  const options = { names: ['a.example'] as const, validFrom: new Date(), validDays: 1 };
  const [one, other] = await Promise.all([createSelfSignedCertificate(options), createSelfSignedCertificate(options)]);
  expect(new X509Certificate(one.certificate).serialNumber).not.toBe(
    new X509Certificate(other.certificate).serialNumber,
  );
  expect(one.key).not.toBe(other.key);
});

test('a process pays for the library only when the default certificate is missing', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-static-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const index = new URL('../index.ts', import.meta.url).href;
  // The library can't be loaded without what adds this to Reflect.
  const program = `
    const { defaultSettings, writeStaticFiles } = await import(${JSON.stringify(index)});
    const [http, https] = [80, 443].map((port) => [{ address: '127.0.0.1', port }]);
    const settings = { ...defaultSettings, http, https, adminSocket: '/nowhere/admin.sock' };
    await writeStaticFiles(${JSON.stringify(directory)}, settings);
    process.stdout.write(String('getMetadata' in Reflect));`;
  const run = () => execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(run()).toBe('true');
  expect(run()).toBe('false');
});
