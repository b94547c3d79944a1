import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import { makeCertificate, makeNamesakes } from '../../../../../../test/support/certificates.ts';
import { haproxyProgram } from '../../../dataplane/proxy-settings.ts';
import { parseCertificatePair, parseStoredPair } from './pem.ts';

const signed = makeNamesakes('signed.example.com');
const stranger = makeCertificate(['stranger.example.com']);

/** A certificate whose key is `algorithm`, by OpenSSL's names, in one go. */
const withKey = (algorithm: string, subject: string, extension?: string) => {
  const more = extension === undefined ? [] : ['-addext', extension];
  const args = ['req', '-x509', '-newkey', ...algorithm.split(' '), '-nodes', '-subj', subject, '-days', '30', ...more];
  const text = execFileSync('openssl', [...args, '-keyout', '-', '-out', '-'], { encoding: 'utf8', stdio: 'pipe' });
  const block = (name: string) =>
    new RegExp(`-----BEGIN ${name}-----[^]+?-----END ${name}-----\n`).exec(text)?.[0] ?? '';
  return { certificate: block('CERTIFICATE'), key: block('PRIVATE KEY') };
};
const P256 = 'ec -pkeyopt ec_paramgen_curve:P-256';

/** Why it is refused, as the client reads it. */
const problemOf = (certificate: string, key: string): string => {
  try {
    parseCertificatePair(certificate, key);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  return 'none';
};

test('a chain is served leaf first, each once, whatever the order in the file', () => {
  const { certificate, authority, key } = signed;
  for (const text of [certificate + authority, authority + certificate, `x\n${authority}${certificate}${authority}`]) {
    const pair = parseCertificatePair(text, key);
    expect(pair.chainPem).toBe(certificate + authority);
    expect(pair).toMatchObject({ names: ['signed.example.com'], keyPem: expect.stringMatching(/^-----BEGIN PRIVATE/) });
    expect(pair.notAfter.getTime() - pair.notBefore.getTime()).toBe(30 * 86_400_000);
  }
});

test('a chain is refused for what is not part of it, even with the right name, for too many, and for rubbish', () => {
  const { certificate, authority, namesake, key } = signed;
  expect(problemOf(certificate + namesake, key)).toContain('not part of the chain');
  expect(problemOf(certificate + authority + stranger.certificate, key)).toContain('not part of the chain');
  expect(problemOf(certificate.repeat(10), key)).toBe('none');
  expect(problemOf(certificate.repeat(11), key)).toContain('certificate_file holds more than 10');
  expect(problemOf('', key)).toBe('certificate_file is not a PEM certificate');
  const rubbish = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  expect(problemOf(certificate + rubbish, key)).toBe('certificate_file: certificate 2 can not be parsed');
});

test('a chain is refused whose authority has the right key and another name: no client would follow it', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-pem-'));
  try {
    const isAuthority = 'basicConstraints=critical,CA:TRUE';
    const root = withKey(P256, '/CN=One Authority', isAuthority);
    const [rootFile, keyFile] = [join(directory, 'root.pem'), join(directory, 'root.key')];
    writeFileSync(rootFile, root.certificate);
    writeFileSync(keyFile, root.key);
    const leaf = withKey(`${P256} -CA ${rootFile} -CAkey ${keyFile}`, '/CN=leaf.example.com');
    const rename = [
      'req',
      '-x509',
      '-key',
      keyFile,
      '-subj',
      '/CN=Other Authority',
      '-days',
      '30',
      '-addext',
      isAuthority,
    ];
    const other = execFileSync('openssl', rename, { encoding: 'utf8', stdio: 'pipe' });
    expect(problemOf(leaf.certificate + root.certificate, leaf.key)).toBe('none');
    expect(problemOf(leaf.certificate + other, leaf.key)).toContain('not part of the chain');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a key is refused that is another one, sealed, or none', () => {
  const { certificate, key } = signed;
  expect(problemOf(certificate, stranger.key)).toBe('key_file does not match the certificate');
  expect(problemOf(certificate, certificate)).toBe('key_file is not a PEM private key');
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  expect(problemOf(certificate, publicKey.export({ type: 'spki', format: 'pem' }) as string)).toContain('not a PEM');
  const sealed = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  for (const type of ['pkcs8', 'sec1'] as const)
    expect(problemOf(certificate, privateKey.export({ ...sealed, type }) as string)).toContain('is encrypted');
  expect(problemOf(certificate, key.replace(/\n.{20}/, '\nAAAA'))).toBe('key_file can not be parsed as a private key');
});

test.each([
  ['rsa:1024', 'an RSA key needs at least 2048 bits'],
  ['rsa:2048', 'none'],
  ['ec -pkeyopt ec_paramgen_curve:secp256k1', 'on the curve P-256, P-384 or P-521'],
  ['ec -pkeyopt ec_paramgen_curve:P-384', 'none'],
  ['ec -pkeyopt ec_paramgen_curve:P-521', 'none'],
  ['ed25519', 'none'],
  ['ed448', 'none'],
])(
  'a key that no client of today could use is refused before HAProxy fails every handshake with it: %s',
  (how, problem) => {
    const { certificate, key } = withKey(how, '/CN=a.example.com');
    expect(problemOf(certificate, key)).toContain(problem);
  },
);

test('a chain with a signature that HAProxy does not serve is refused, but for what signs itself; what is stored can be put back', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-pem-'));
  try {
    const isAuthority = 'basicConstraints=critical,CA:TRUE';
    const isName = 'subjectAltName=DNS:leaf.example.com';
    const file = (name: string, text: string): string => {
      const path = join(directory, name);
      writeFileSync(path, text);
      return path;
    };
    type Made = ReturnType<typeof withKey>;
    const by = (issuer: Made, digest: string) =>
      `-CA ${file('ca.pem', issuer.certificate)} -CAkey ${file('ca.key', issuer.key)} -${digest}`;
    const root = withKey(`${P256} -sha1`, '/CN=Old Root', isAuthority);
    const between = withKey(`${P256} ${by(root, 'sha256')}`, '/CN=Between', isAuthority);
    const weak = withKey(`${P256} ${by(root, 'sha1')}`, '/O=Example/CN=Weak', isAuthority);
    // Such an authority signs by other identifiers.
    const rsa = withKey('rsa:2048', '/CN=RSA Root', isAuthority);
    const leaf = (issuer: Made, digest: string) => withKey(`${P256} ${by(issuer, digest)}`, '/CN=leaf', isName);
    const signed = (of: string, digest: string) =>
      `certificate_file: the certificate of ${of} is signed with ${digest}, which is not served any more`;
    const cases: [Made, Made[], string][] = [
      [leaf(between, 'sha256'), [between, root], 'none'],
      [withKey(`${P256} -sha1`, '/CN=leaf', isName), [], 'none'],
      [leaf(between, 'sha1'), [between], signed('CN=leaf', 'SHA-1')],
      [leaf(weak, 'sha256'), [weak], signed('O=Example, CN=Weak', 'SHA-1')],
      [leaf(rsa, 'sha1'), [rsa], signed('CN=leaf', 'SHA-1')],
      [leaf(rsa, 'md5'), [], signed('CN=leaf', 'MD5')],
    ];
    for (const [made, others, problem] of cases) {
      const chain = [made, ...others].map(({ certificate }) => certificate).join('');
      expect(problemOf(chain, made.key)).toBe(problem);
      expect(parseStoredPair(chain, made.key).names).toEqual(['leaf.example.com']);
      const pem = file('served.pem', chain + made.key);
      const timeouts = ['client', 'connect', 'server'].map((side) => ` timeout ${side} 1s`);
      const lines = ['defaults', ' mode http', ...timeouts, 'frontend f', ` bind 127.0.0.1:1 ssl crt ${pem}`, ''];
      const { status } = spawnSync(haproxyProgram(), ['-c', '-f', file('haproxy.cfg', lines.join('\n'))]);
      expect(status === 0).toBe(problem === 'none');
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('names are those that clients ask for', () => {
  const namesOf = (subject: string, extension?: string) => {
    const { certificate, key } = withKey(P256, subject, extension);
    return parseCertificatePair(certificate, key).names;
  };
  expect(namesOf('/O=Example/CN=Only.example.com')).toEqual(['only.example.com']);
  const listed =
    'subjectAltName=DNS:A.example.com,DNS:*.example.com,IP:192.0.2.1,DNS:a_b.example.com,URI:http://x.example.com';
  expect(namesOf('/CN=other.example.com', listed)).toEqual(['a.example.com', '*.example.com', '192.0.2.1']);
  expect(() => namesOf('/CN=Some words')).toThrow('names no DNS name and no address');
  const many = (count: number) =>
    `subjectAltName=${Array.from({ length: count }, (_, n) => `DNS:n${n}.example.com`).join(',')}`;
  expect(namesOf('/CN=a', many(200))).toHaveLength(200);
  expect(() => namesOf('/CN=a', many(201))).toThrow('more than 200 names');
});

test('what looks like a name within one of another kind is none: nobody asked for that name', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-pem-'));
  try {
    const [config, keyFile] = [join(directory, 'san.cnf'), join(directory, 'own.key')];
    const names = [
      ...[
        'URI.1 = http://x/DNS:b.example.com',
        'URI.2 = "http://x/, DNS:c.example.com"',
        'email.1 = DNS:d.example.com@x',
      ],
      ...['DNS.1 = a.example.com', 'RID.1 = 1.2.3.4', 'IP.1 = 2001:db8::1', 'DNS.2 = e.example.com'],
    ];
    const sections = ['[req]', 'distinguished_name = dn', 'x509_extensions = more', '[dn]', '[more]'];
    writeFileSync(config, [...sections, 'subjectAltName = @san', '[san]', ...names, ''].join('\n'));
    writeFileSync(keyFile, stranger.key);
    const args = ['req', '-x509', '-key', keyFile, '-subj', '/CN=a', '-days', '30', '-config', config];
    const certificate = execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });
    const expected = ['a.example.com', '2001:db8::1', 'e.example.com'];
    expect(parseCertificatePair(certificate, stranger.key).names).toEqual(expected);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
