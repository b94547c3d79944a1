import { X509Certificate } from 'node:crypto';
import { readDer } from './der.ts';

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTETS = 0x04;
const EXTENSIONS = 0xa3;
const KEY_IDENTIFIER = 0x80;
/** 2.5.29.35, authorityKeyIdentifier. */
const AUTHORITY_KEY_IDENTIFIER = Buffer.from('551d23', 'hex');

/** The contents of authorityKeyIdentifier's key identifier (RFC 5280, section 4.2.1.1). */
const keyIdentifier = (extensions: Buffer): Buffer | undefined => {
  for (const { content } of readDer(extensions)) {
    const [oid, ...rest] = readDer(content);
    if (!oid?.content.equals(AUTHORITY_KEY_IDENTIFIER)) continue;
    const value = rest.find(({ tag }) => tag === OCTETS);
    const [sequence] = value ? readDer(value.content) : [];
    return readDer(sequence?.content ?? Buffer.alloc(0)).find(({ tag }) => tag === KEY_IDENTIFIER)?.content;
  }
  return undefined;
};

/**
 * What ARI calls a certificate by: its issuer's key identifier and its serial number (RFC 9773, section 4.1). Node tells neither as it is in
 * the certificate. Throws an `Error` for what is no certificate, or one without such an identifier.
 */
export const ariCertificateId = (leafPem: string): string => {
  const { raw } = new X509Certificate(leafPem);
  const [certificate] = readDer(raw);
  const [tbs] = readDer(certificate?.content ?? Buffer.alloc(0));
  const fields = tbs?.tag === SEQUENCE ? readDer(tbs.content) : [];
  // After the version, if that is there, comes the serial number.
  const serial = fields.find(({ tag }) => tag === INTEGER);
  const extensions = fields.find(({ tag }) => tag === EXTENSIONS);
  const [list] = extensions ? readDer(extensions.content) : [];
  const issuer = list && keyIdentifier(list.content);
  if (!issuer || !serial) throw new Error('the certificate does not name its issuer’s key, so ARI has no name for it');
  return `${issuer.toString('base64url')}.${serial.content.toString('base64url')}`;
};
