import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestCertificate } from './certificates.ts';

export interface Pkcs12Options {
  /** Default: none. */
  password?: string;
  /** PEM of others that it is to hold. */
  others?: string;
  /** How `openssl pkcs12 -export` is to make it. */
  how?: readonly string[];
}

/** Makes a real PKCS #12 file with OpenSSL; without a key, of certificates alone. */
export const makePkcs12 = (
  { certificate, key }: { certificate: string; key?: string } | TestCertificate,
  { password = '', others, how = [] }: Pkcs12Options = {},
): Buffer<ArrayBuffer> => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-pkcs12-'));
  try {
    writeFileSync(join(directory, 'certificate.pem'), certificate);
    if (key !== undefined) writeFileSync(join(directory, 'key.pem'), key);
    writeFileSync(join(directory, 'others.pem'), others ?? '');
    const parts = [
      ...['-in', 'certificate.pem', ...(key === undefined ? ['-nokeys'] : ['-inkey', 'key.pem'])],
      ...(others === undefined ? [] : ['-certfile', 'others.pem']),
    ];
    const args = ['pkcs12', '-export', ...parts, '-out', 'out.p12', '-passout', 'stdin', ...how];
    execFileSync('openssl', args, { cwd: directory, stdio: 'pipe', input: `${password}\n` });
    return readFileSync(join(directory, 'out.p12')) as Buffer<ArrayBuffer>;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** What OpenSSL finds in a PKCS #12 file, PEM. */
export const openPkcs12 = (bytes: Buffer, password: string): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-pkcs12-'));
  try {
    writeFileSync(join(directory, 'in.p12'), bytes);
    const args = ['pkcs12', '-in', 'in.p12', '-nodes', '-passin', 'stdin'];
    return execFileSync('openssl', args, { cwd: directory, stdio: 'pipe', input: `${password}\n` }).toString('latin1');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
