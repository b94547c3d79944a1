import type { CertificateStore, StoredCertificate } from './store.ts';

const covers = (certificateName: string, name: string): boolean =>
  certificateName === name ||
  (certificateName.startsWith('*.') &&
    !name.startsWith('*.') &&
    name.slice(name.indexOf('.')) === certificateName.slice(1));

/** How well a certificate fits a name: 2 by its exact name, 1 by a wildcard, 0 not at all. */
const matchQuality = (certificate: StoredCertificate, name: string): number => {
  const names = certificate.domains.split(',');
  if (names.includes(name)) return 2;
  return names.some((candidate) => covers(candidate, name)) ? 1 : 0;
};

/** The certificate the data plane serves for a name when its host chose none: exact before wildcard, then the latest expiry. */
export const bestMatch = (certificates: readonly StoredCertificate[], name: string): StoredCertificate | undefined =>
  certificates
    .filter((certificate) => matchQuality(certificate, name) > 0)
    .sort(
      (a, b) =>
        matchQuality(b, name) - matchQuality(a, name) ||
        Date.parse(b.expires_at) - Date.parse(a.expires_at) ||
        b.id - a.id,
    )[0];

/** Whether a proxy host names this certificate, or is served with it because it is the best match for its name. */
export const isInUse = async (store: CertificateStore, certificate: StoredCertificate): Promise<boolean> => {
  if (await store.isChosen(certificate.id)) return true;
  const names = await store.namesLeftToUs(certificate.domains.split(','));
  if (names.length === 0) return false;
  const all = await store.list();
  return names.some((name) => bestMatch(all, name)?.id === certificate.id);
};
