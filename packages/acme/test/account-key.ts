import { generateKeyPairSync } from 'node:crypto';

/** PKCS #8 PEM, EC P-256. */
export const newAccountKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;
