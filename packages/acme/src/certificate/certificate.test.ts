import { execFileSync } from 'node:child_process';
import { createPublicKey, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate, makeNamesakes } from '../../../../test/support/certificates.ts';
import { authorityKeyIs, certify } from '../../test/certify.ts';
import { AcmeProtocolError } from '../model/errors.ts';
import { ariCertificateId } from './ari-id.ts';
import { readChain } from './chain.ts';
import { makeCsr } from './csr.ts';
import { readDer } from './der.ts';
import { keyTypes, makeCertificateKey } from './key.ts';

const url = 'https://ca.example/certificate/1';
const now = new Date();

describe('requests for certificates', () => {
  test('are made of the kinds of keys that every CA takes', () => {
    expect(keyTypes).toEqual(['p256', 'p384', 'rsa2048', 'rsa4096']);
  });

  test.for(keyTypes)('OpenSSL verifies one of a %s key', async (type) => {
    const keyPem = await makeCertificateKey(type);
    const csr = await makeCsr({ names: ['B.example', '*.example.com', '192.0.2.1', '2001:DB8::1'], keyPem });
    const args = ['req', '-inform', 'DER', '-verify', '-noout', '-text', '-pubkey'];
    const text = execFileSync('openssl', args, { input: csr, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
    expect(text).toContain('DNS:b.example, DNS:*.example.com, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1');
    expect(text).toMatch(/Subject:\s*\n/);
    expect(text).toContain(createPublicKey(keyPem).export({ type: 'spki', format: 'pem' }));
  });

  test('a key of a kind that CAs don’t take', async () => {
    const { key } = makeCertificate(['a.example'], {
      keyCommand: ['genpkey', '-algorithm', 'ed25519', '-out', 'key.pem'],
    });
    await expect(makeCsr({ names: ['a.example'], keyPem: key })).rejects.toThrow('RSA, or EC');
  });
});

describe('what ARI calls a certificate by', () => {
  // RFC 9773, section 4.1: this key identifier and serial number, and what comes of them.
  const identifier = '69:88:5B:6B:87:46:40:41:E1:B3:7B:84:7B:A0:AE:2C:DE:01:C8:D4';
  test('the example of the standard, whose serial number needs a zero before it', () => {
    expect(ariCertificateId(certify('0x87654321', authorityKeyIs(identifier)).certificate)).toBe(
      'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE',
    );
  });

  test('a serial number that needs none', () => {
    expect(ariCertificateId(certify('0x01', authorityKeyIs(identifier)).certificate)).toBe(
      'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AQ',
    );
  });

  test('none without the key of its issuer', () => {
    const pem = certify('7', 'basicConstraints=CA:FALSE\nauthorityKeyIdentifier=none\n').certificate;
    expect(() => ariCertificateId(pem)).toThrow('does not name its issuer’s key');
    expect(() => ariCertificateId('nonsense')).toThrow();
  });

  test('whatever the bytes are, reading ends', () => {
    const { raw } = new X509Certificate(makeCertificate(['a.example']).certificate);
    const damaged = fc
      .tuple(fc.nat(raw.length - 1), fc.uint8Array({ minLength: 1, maxLength: 8 }))
      .map(([at, patch]) => Buffer.concat([raw.subarray(0, at), patch, raw.subarray(at + patch.length)]));
    fc.assert(
      fc.property(
        fc.oneof(
          damaged,
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        (bytes) => {
          try {
            for (const { content } of readDer(bytes)) expect(content.length).toBeLessThanOrEqual(bytes.length);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        },
      ),
    );
  });
});

describe('chains', () => {
  let made: ReturnType<typeof makeNamesakes>;
  beforeAll(() => {
    made = makeNamesakes('a.example');
  });
  const read = (text: string, names: readonly string[] = ['a.example'], keyPem = made.key, at = now) =>
    readChain(text, { names, keyPem }, url, at);

  test('are given back leaf first, without what was between', () => {
    const { pem, roots } = read(`\n${made.certificate}\r\n\n${made.authority}`, ['A.EXAMPLE']);
    expect(pem).toBe(`${made.certificate}${made.authority}`);
    expect(roots).toEqual(['One Authority', 'One Authority']);
    expect(read(made.certificate).roots).toEqual(['One Authority', 'a.example']);
  });

  const broken: readonly [what: string, text: () => string, problem: string][] = [
    ['nothing', () => '', 'not a chain'],
    ['garbage', () => '<html>', 'not a chain'],
    ['explanations', () => `subject=a\n${made.certificate}`, 'something else'],
    ['a key', () => `${made.certificate}${made.key}`, 'something else'],
    [
      'a certificate that is none',
      () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'can not be parsed',
    ],
    ['eleven certificates', () => made.certificate.repeat(11), 'more than 10'],
    ['the wrong order', () => `${made.authority}${made.certificate}`, 'another key'],
    ['the same twice', () => made.certificate.repeat(2), 'has not issued'],
    ['an authority that only has the name', () => `${made.certificate}${made.namesake}`, 'has not issued'],
  ];
  test.for(broken)('%s', ([, text, problem]) => {
    const work = () => read(text());
    expect(work).toThrow(AcmeProtocolError);
    expect(work).toThrow(problem);
  });

  test('for other names, another key, or of yesterday', () => {
    expect(() => read(made.certificate, ['a.example', 'b.example'])).toThrow('not for b.example');
    expect(() => read(made.certificate, ['example'])).toThrow('not for example');
    expect(() => read(made.certificate, ['a.example'], makeCertificate(['a.example']).key)).toThrow('another key');
    const later = new Date(now.getTime() + 31 * 86_400_000);
    expect(() => read(made.certificate, ['a.example'], made.key, later)).toThrow('expired');
    const atItsEnd = new X509Certificate(made.certificate).validToDate;
    expect(() => read(made.certificate, ['a.example'], made.key, atItsEnd)).toThrow('expired');
    const wildcard = makeCertificate(['*.example']);
    expect(() => read(wildcard.certificate, ['a.example'], wildcard.key)).toThrow('not for a.example');
    // Of another kind than a name, whatever it looks like.
    const lookalike = certify('7', 'subjectAltName=URI:DNS:a.example,email:a.example@b.example\n');
    expect(() => readChain(lookalike.certificate, { names: ['a.example'], keyPem: lookalike.key }, url, now)).toThrow(
      'not for a.example',
    );
    const nameless = certify('7', 'basicConstraints=CA:FALSE\n');
    expect(() => readChain(nameless.certificate, { names: ['a.example'], keyPem: nameless.key }, url, now)).toThrow(
      'not for a.example',
    );
    const authority = certify('7', 'subjectAltName=DNS:a.example\nbasicConstraints=CA:TRUE\n');
    expect(() => readChain(authority.certificate, { names: ['a.example'], keyPem: authority.key }, url, now)).toThrow(
      'one of an authority',
    );
    const addressed = makeCertificate(['192.0.2.1', '2001:db8::1']);
    expect(read(addressed.certificate, ['2001:0DB8::1', '192.0.2.1'], addressed.key).roots).toHaveLength(2);
  });
});
