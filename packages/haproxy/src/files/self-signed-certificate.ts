import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

export type SelfSignedOptions = {
  /** DNS names and addresses; the first one is also the common name, unless it is too long for one. */
  names: readonly [string, ...string[]];
  validFrom: Date;
  validDays: number;
};

// 16 MB of memory for what is needed once in the life of a deployment: nobody pays for it who does not call.
const loadX509 = async () => {
  // The library asks for it when it is loaded.
  await import('reflect-metadata');
  return import('@peculiar/x509');
};

/** X.520 allows no more characters in a common name (RFC 5280, appendix A). */
const MAX_COMMON_NAME = 64;

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A new P-256 key and a certificate (X.509 v3, RFC 5280) that it signs itself, both in PEM. */
export const createSelfSignedCertificate = async (
  options: SelfSignedOptions,
): Promise<{ certificate: string; key: string }> => {
  const { names, validFrom, validDays } = options;
  const commonName = names[0].length <= MAX_COMMON_NAME ? names[0] : 'self-signed';
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    notBefore: validFrom,
    notAfter: new Date(validFrom.getTime() + validDays * 86_400_000),
    keys,
    signingAlgorithm: ecdsa,
    extensions: [
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
      ),
      new x509.BasicConstraintsExtension(false, undefined, true),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(key, x509.PemConverter.PrivateKeyTag)}\n`,
  };
};
