import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import * as der from './der.ts';

const ecdsaWithSha256 = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'));
const commonName = (text: string): Buffer =>
  der.sequence(der.set(der.sequence(der.objectIdentifier('2.5.4.3'), der.utf8String(text))));
const extension = (oid: string, isCritical: boolean, value: Buffer): Buffer =>
  der.sequence(der.objectIdentifier(oid), ...(isCritical ? [der.boolean(true)] : []), der.octetString(value));

const pem = (label: string, content: Buffer): string =>
  `-----BEGIN ${label}-----\n${(content.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`;

export type SelfSignedOptions = {
  /** The first one is also the common name. */
  names: readonly [string, ...string[]];
  validFrom: Date;
  validDays: number;
};

const toBeSigned = ({ names, validFrom, validDays }: SelfSignedOptions, publicKey: KeyObject): Buffer => {
  const subjectPublicKeyInfo = publicKey.export({ type: 'spki', format: 'der' });
  const keyIdentifier = createHash('sha1').update(subjectPublicKeyInfo).digest();
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const validUntil = new Date(validFrom.getTime() + validDays * 86_400_000);
  const alternativeNames = names.map((name) => der.tagged(2, false, Buffer.from(name)));
  return der.sequence(
    der.tagged(0, true, der.integer(Buffer.from([2]))),
    der.integer(serial),
    ecdsaWithSha256,
    commonName(names[0]),
    der.sequence(der.generalizedTime(validFrom), der.generalizedTime(validUntil)),
    commonName(names[0]),
    subjectPublicKeyInfo,
    der.tagged(
      3,
      true,
      der.sequence(
        extension('2.5.29.14', false, der.octetString(keyIdentifier)),
        extension('2.5.29.17', false, der.sequence(...alternativeNames)),
        extension('2.5.29.19', true, der.sequence()),
      ),
    ),
  );
};

/** A new P-256 key and a certificate (X.509 v3, RFC 5280) that it signs itself, both in PEM. */
export const createSelfSignedCertificate = (options: SelfSignedOptions): { certificate: string; key: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const content = toBeSigned(options, publicKey);
  const signature = sign('sha256', content, privateKey);
  return {
    certificate: pem('CERTIFICATE', der.sequence(content, ecdsaWithSha256, der.bitString(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
};
