/** What is needed of a certificate to know which names it is served for. */
export interface CertificateNames {
  id: number;
  /** Comma-separated. */
  domains: string;
  expires_at: string;
}

/** Long ago. */
const OVER = new Date(0).toISOString();

/** When a certificate ends where one of several is chosen: one that was revoked is served only where there is no other. */
export const endOf = ({ expires_at, revoked_at }: { expires_at: string; revoked_at: string | null }): string =>
  revoked_at === null ? expires_at : OVER;

/** `a.example.com` → `*.example.com`. */
const wildcardOf = (name: string): string => `*${name.slice(name.indexOf('.'))}`;

/** The names under which a certificate for `name` can be listed, best first. */
const coveringNames = (name: string): string[] => (name.startsWith('*.') ? [name] : [name, wildcardOf(name)]);

/** Tells whether a certificate for these names is valid for `name`, its own or one that a wildcard takes in. */
export const isCovered = (certificateNames: readonly string[], name: string): boolean =>
  coveringNames(name).some((candidate) => certificateNames.includes(candidate));

const isBetter = (a: CertificateNames, b: CertificateNames | undefined): boolean =>
  b === undefined ||
  Date.parse(a.expires_at) - Date.parse(b.expires_at) > 0 ||
  (a.expires_at === b.expires_at && a.id > b.id);

/**
 * Makes the look-up of the certificate that the data plane serves for a name whose host chose none: exact before
 * wildcard, then the latest expiry. Linear in the certificates once, then constant.
 */
export const createBestMatch = <T extends CertificateNames>(certificates: Iterable<T>) => {
  const best = new Map<string, T>();
  for (const certificate of certificates) {
    for (const name of certificate.domains.split(',')) {
      if (isBetter(certificate, best.get(name))) best.set(name, certificate);
    }
  }
  return (name: string): T | undefined => {
    for (const candidate of coveringNames(name)) {
      const certificate = best.get(candidate);
      if (certificate) return certificate;
    }
    return undefined;
  };
};
