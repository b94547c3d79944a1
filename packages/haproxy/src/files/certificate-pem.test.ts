import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { encodeCommand } from '../runtime/command.ts';
import { InvalidCertificate, normalizeCertificatePem } from './certificate-pem.ts';
import { createSelfSignedCertificate } from './self-signed-certificate.ts';

const made = (name: string) => createSelfSignedCertificate({ names: [name], validFrom: new Date(), validDays: 9 });
const [leaf, other] = await Promise.all([made('leaf.test'), made('other.test')]);
const whole = leaf.certificate + other.certificate + leaf.key;

const breakLines = (pem: string, how: string) => pem.replace(/^(M\w{10})/gm, `$1${how}`);

describe('a certificate for HAProxy', () => {
  test.each([
    ['as it should be', whole],
    ['the key first, the leaf last', leaf.key + other.certificate + leaf.certificate],
    ['words around', `Subject: é\n${whole}trailing`],
    ['parameters of a curve', `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${whole}`],
    ['line ends of Windows', whole.replaceAll('\n', '\r\n')],
    ['empty lines', whole.replaceAll('\n', '\n\n')],
    ['tabs', breakLines(whole, '\t')],
    ['a line that is a tab', whole.replaceAll('TE-----\n', 'TE-----\n\t\n')],
    ['blanks', breakLines(whole, ' ')],
  ])('is leaf, chain and key: %s', (_what, pem) => {
    const { pem: text, fingerprint } = normalizeCertificatePem(pem);
    expect(text).toBe(whole);
    expect(fingerprint).toBe(new X509Certificate(leaf.certificate).fingerprint.replaceAll(':', ''));
    expect(() => encodeCommand({ words: ['set'], payload: text.trimEnd().split('\n') })).not.toThrow();
  });

  test('may have a key of the older form', () => {
    const old = createPrivateKey(leaf.key).export({ type: 'sec1', format: 'pem' }).toString();
    expect(normalizeCertificatePem(leaf.certificate + old).pem).toBe(leaf.certificate + leaf.key);
  });

  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const encrypted = privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString();
  test.each([
    ['nothing', '', /exactly one private key/],
    ['no key', leaf.certificate, /exactly one private key/],
    ['two keys', whole + other.key, /exactly one private key/],
    ['an encrypted key', leaf.certificate + encrypted, /is encrypted/],
    ['no certificate', leaf.key, /no certificate belongs/],
    ["another's key", leaf.certificate + other.key, /no certificate belongs/],
    ['a broken certificate', breakLines(leaf.certificate, '\0') + leaf.key, /certificate cannot be read/],
    ['a broken key', leaf.certificate + breakLines(leaf.key, '\0'), /private key cannot be read/],
  ])('is refused: %s', (_what, pem, reason) => {
    expect(() => normalizeCertificatePem(pem)).toThrow(InvalidCertificate);
    expect(() => normalizeCertificatePem(pem)).toThrow(reason);
    expect(() => normalizeCertificatePem(pem)).toThrow(expect.objectContaining({ name: 'InvalidCertificate' }));
  });
});
