import { expect, test } from 'vitest';
import { certificateFile, certificateId, dataPlaneFiles } from './layout.ts';

test('a certificate is known by the name of its file, the default one and others by none', () => {
  expect(certificateFile(7)).toBe('tls/certificates/7.pem');
  expect(certificateId(certificateFile(7))).toBe(7);
  const others = [
    dataPlaneFiles.defaultCertificate,
    '/elsewhere/7.pem',
    'x/tls/certificates/7.pem',
    'tls/certificates/7.pem.old',
    'tls/certificates/-7.pem',
  ];
  for (const store of others) expect(certificateId(store), store).toBeUndefined();
});
