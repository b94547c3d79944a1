import { isAddress, normaliseName } from '../names/certificate-name.ts';
import { loadX509, x509KeysOf } from './x509.ts';

/** A request for a certificate (PKCS #10, DER) for DNS names and addresses; the subject is empty, as CAs want it today. */
export const makeCsr = async ({ names, keyPem }: { names: readonly string[]; keyPem: string }): Promise<Buffer> => {
  const { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await loadX509();
  const { algorithm, ...keys } = x509KeysOf(keyPem);
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys,
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
