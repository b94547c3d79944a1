import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { isAddress, normaliseName } from '../names/certificate-name.ts';

// 16 MB of memory (docs/decisions/0012): loaded with the first request for a certificate.
const loadX509 = async () => {
  // The library asks for it when it is loaded.
  await import('reflect-metadata');
  return import('@peculiar/x509');
};

const algorithmOf = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) => {
  if (asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const curves: Readonly<Record<string, { namedCurve: string; hash: string }>> = {
    prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
    secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  };
  const curve = curves[asymmetricKeyDetails?.namedCurve ?? ''];
  if (curve === undefined) throw new TypeError('a certificate’s key is RSA, or EC on P-256 or P-384');
  return { name: 'ECDSA', ...curve };
};

/** A request for a certificate (PKCS #10, DER) for DNS names and addresses; the subject is empty, as CAs want it today. */
export const makeCsr = async ({ names, keyPem }: { names: readonly string[]; keyPem: string }): Promise<Buffer> => {
  const { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await loadX509();
  const key = createPrivateKey(keyPem);
  const algorithm = algorithmOf(key);
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys: {
      privateKey: key.toCryptoKey(algorithm, false, ['sign']),
      publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
    },
    signingAlgorithm: algorithm,
    extensions: [
      new SubjectAlternativeNameExtension(
        names
          .map(normaliseName)
          .map((value) => ({ type: isAddress(value) ? ('ip' as const) : ('dns' as const), value })),
        // RFC 5280, section 4.2.1.6: critical when the subject is empty.
        true,
      ),
    ],
  });
  return Buffer.from(request.rawData);
};
