import { createSelfSignedCertificate } from '@sallyport/haproxy';
import { type CertificatePair, parseCertificatePair } from './pem.ts';

/** Longer than anybody waits for an authority. */
const VALID_DAYS = 3_650;
const DAY_MS = 86_400_000;

/** A self-signed pair of exactly these names, which stands in for a certificate that is ordered. */
export const makePlaceholder = async (names: readonly string[], now: Date): Promise<CertificatePair> => {
  const [first, ...rest] = names;
  if (first === undefined) throw new Error('a certificate needs a name');
  const { certificate, key } = await createSelfSignedCertificate({
    names: [first, ...rest],
    // Some clock behind ours may ask, too.
    validFrom: new Date(now.getTime() - DAY_MS),
    validDays: VALID_DAYS,
  });
  return parseCertificatePair(certificate, key);
};
