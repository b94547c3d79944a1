import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** The library that writes requests and certificates. 16 MB of memory (docs/decisions/0012): loaded by who needs it, when it does. */
export const loadX509 = async () => {
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

/** A private key in PEM as that library takes it, with its public key and how it signs. Throws a `TypeError` for other types than ours. */
export const x509KeysOf = (keyPem: string) => {
  const key = createPrivateKey(keyPem);
  const algorithm = algorithmOf(key);
  return {
    algorithm,
    privateKey: key.toCryptoKey(algorithm, false, ['sign']),
    publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
  };
};
