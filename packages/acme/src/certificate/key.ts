import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

export const keyTypes = ['p256', 'p384', 'rsa2048', 'rsa4096'] as const;
export type KeyType = (typeof keyTypes)[number];

const generate = promisify(generateKeyPair);
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;

const onCurve = async (namedCurve: string): Promise<string> =>
  (await generate('ec', { namedCurve, privateKeyEncoding: pkcs8, publicKeyEncoding: spki })).privateKey;

const rsa = async (modulusLength: number): Promise<string> =>
  (await generate('rsa', { modulusLength, privateKeyEncoding: pkcs8, publicKeyEncoding: spki })).privateKey;

/** A new private key, PKCS #8 PEM. An RSA key of 4096 bits takes seconds, outside of Node's own thread. */
export const makeCertificateKey = (type: KeyType): Promise<string> => {
  switch (type) {
    case 'p256':
      return onCurve('prime256v1');
    case 'p384':
      return onCurve('secp384r1');
    case 'rsa2048':
      return rsa(2_048);
    case 'rsa4096':
      return rsa(4_096);
    default:
      throw new TypeError(`unknown type of key: ${String(type satisfies never)}`);
  }
};
