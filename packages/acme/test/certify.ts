import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate, type TestCertificate } from '../../../test/support/certificates.ts';

/** OpenSSL's extensions of a leaf whose issuer's key has this identifier of 20 bytes (`69:88:…`). */
export const authorityKeyIs = (identifier: string): string =>
  // Among others: the first has the same form, and is another key's.
  `2.5.29.14=DER:30:16:80:14:${'00:'.repeat(19)}00\nauthorityKeyIdentifier=DER:30:16:80:14:${identifier}\nkeyUsage=digitalSignature\n`;

/** A certificate of an authority with these extensions, made by OpenSSL. */
export const certify = (serial: string, extensions: string): TestCertificate => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-ari-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  try {
    const { certificate, key } = makeCertificate(['authority.example']);
    writeFileSync(join(directory, 'ca.pem'), certificate);
    writeFileSync(join(directory, 'ca.key'), key);
    writeFileSync(join(directory, 'extensions'), extensions);
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'leaf.key');
    openssl('req', '-new', '-key', 'leaf.key', '-subj', '/CN=a.example', '-out', 'leaf.csr');
    const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', serial, '-days', '10'];
    openssl('x509', '-req', '-in', 'leaf.csr', ...signer, '-extfile', 'extensions', '-out', 'leaf.pem');
    const read = (name: string) => readFileSync(join(directory, name), 'utf8');
    return { certificate: read('leaf.pem'), key: read('leaf.key') };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
