import { expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { CA, scriptedCa } from '../scripted-ca.ts';

test('another chain that can not be had costs nobody the certificate', async () => {
  const { certificate, key: keyPem } = makeCertificate(['a.example']);
  const pem = { 'content-type': 'application/pem-certificate-chain' };
  const link = `<${CA}/other>;rel="alternate", <https://10.0.0.1/>;rel="alternate"`;
  const ca = scriptedCa({
    '/certificate': { headers: { ...pem, link }, body: certificate },
    '/other': { status: 404 },
  });
  const chain = await ca
    .client()
    .certificate(`${CA}/certificate`, { names: ['a.example'], keyPem, preferredRoot: 'Some Root' });
  expect(chain).toBe(certificate);
  expect(ca.paths().slice(-2)).toEqual(['/certificate', '/other']);
  // Nor is any looked for by who has no wish, or has what was wished for.
  for (const preferredRoot of [undefined, 'a.example']) {
    await ca
      .client()
      .certificate(`${CA}/certificate`, { names: ['a.example'], keyPem, ...(preferredRoot && { preferredRoot }) });
    expect(ca.paths().at(-1)).toBe('/certificate');
  }
});
