import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestCertificate {
  certificate: string;
  key: string;
}

export interface CertificateOptions {
  /** OpenSSL's `-days`; a negative number makes an expired one. */
  days?: number;
  passphrase?: string;
  /** It says that it is an authority, as what `openssl req -x509` makes does. */
  isAuthority?: boolean;
  /** How OpenSSL makes the key, `key.pem`; default: EC on P-256. */
  keyCommand?: readonly string[];
}

const P256 = ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'key.pem'];

const openssl = (args: string[], cwd: string) => execFileSync('openssl', args, { cwd, stdio: 'pipe' });

const alternativeName = (name: string): string => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`;

/** Makes a real self-signed certificate for the given DNS names and addresses with OpenSSL. */
export const makeCertificate = (names: readonly string[], options: CertificateOptions = {}): TestCertificate => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-cert-'));
  try {
    const days = options.days ?? 30;
    // "openssl req" can't date back; "openssl x509 -days" with a negative number can.
    openssl([...(options.keyCommand ?? P256)], directory);
    const subject = ['-subj', `/CN=${names[0]}`];
    openssl(['req', '-new', '-key', 'key.pem', ...subject, '-out', 'request.pem'], directory);
    const constraint = options.isAuthority === true ? 'basicConstraints=critical,CA:TRUE\n' : '';
    writeFileSync(join(directory, 'san.cnf'), `${constraint}subjectAltName=${names.map(alternativeName).join(',')}\n`);
    const sign = ['x509', '-req', '-in', 'request.pem', '-signkey', 'key.pem', '-extfile', 'san.cnf'];
    openssl([...sign, '-days', String(days), '-out', 'cert.pem'], directory);
    if (options.passphrase !== undefined) {
      const cipher = ['-aes256', '-passout', `pass:${options.passphrase}`];
      openssl(
        ['pkcs8', '-topk8', '-in', 'key.pem', '-out', 'sealed.pem', '-v2', 'aes256', ...cipher.slice(1)],
        directory,
      );
    }
    const keyFile = options.passphrase === undefined ? 'key.pem' : 'sealed.pem';
    const read = (name: string) => readFileSync(join(directory, name), 'utf8');
    return { certificate: read('cert.pem'), key: read(keyFile) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** The form of `POST /certificates/upload`. */
export const uploadForm = (name: string, { certificate, key }: TestCertificate): FormData => {
  const form = new FormData();
  form.set('name', name);
  form.set('certificate_file', new Blob([certificate]), 'site.crt');
  form.set('key_file', new Blob([key]), 'site.key');
  return form;
};

/** Makes certificates, and what they are signed with, in a directory. */
const createCertifier =
  (directory: string) =>
  (file: string, subject: string, config: string, signer: string[]): string => {
    openssl(['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${file}.key`], directory);
    openssl(['req', '-new', '-key', `${file}.key`, '-subj', subject, '-out', 'request.pem'], directory);
    const how = ['-req', '-in', 'request.pem', '-days', '30', '-extfile', config, '-out', `${file}.pem`];
    openssl(['x509', ...how, ...signer], directory);
    return readFileSync(join(directory, `${file}.pem`), 'utf8');
  };

const signedBy = (file: string): string[] => ['-CA', `${file}.pem`, '-CAkey', `${file}.key`, '-CAcreateserial'];

/** A certificate and the one of its issuer, which another authority issued that is not there. */
export const makeIssued = (name: string): TestCertificate & { authority: string } => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-cert-'));
  try {
    writeFileSync(join(directory, 'ca.cnf'), 'basicConstraints=critical,CA:TRUE\n');
    writeFileSync(join(directory, 'san.cnf'), `subjectAltName=DNS:${name}\n`);
    const certify = createCertifier(directory);
    certify('root', '/CN=The Root', 'ca.cnf', ['-signkey', 'root.key']);
    const authority = certify('authority', '/CN=The Authority', 'ca.cnf', signedBy('root'));
    const certificate = certify('leaf', `/CN=${name}`, 'san.cnf', signedBy('authority'));
    return { certificate, key: readFileSync(join(directory, 'leaf.key'), 'utf8'), authority };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** A certificate of one authority, and the certificate of another one that has the same name and no key identifier. */
export const makeNamesakes = (name: string): TestCertificate & { authority: string; namesake: string } => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-cert-'));
  try {
    writeFileSync(join(directory, 'ca.cnf'), 'basicConstraints=critical,CA:TRUE\nsubjectKeyIdentifier=none\n');
    writeFileSync(join(directory, 'san.cnf'), `subjectAltName=DNS:${name}\nauthorityKeyIdentifier=none\n`);
    const certify = createCertifier(directory);
    const [authority, namesake] = ['authority', 'namesake'].map((file) =>
      certify(file, '/CN=One Authority', 'ca.cnf', ['-signkey', `${file}.key`]),
    );
    const certificate = certify('leaf', `/CN=${name}`, 'san.cnf', signedBy('authority'));
    const key = readFileSync(join(directory, 'leaf.key'), 'utf8');
    return { certificate, key, authority: authority ?? '', namesake: namesake ?? '' };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
