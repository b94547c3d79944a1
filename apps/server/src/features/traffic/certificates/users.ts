import type { HostUses } from '@sallyport/contract';
import type { CertificateStore, StoredCertificate } from './store.ts';
import { createBestMatch } from './usage.ts';

/** Hosts that name a certificate, and those it is served for because it is the best match of one of their names. */
export const usersOf = async (
  store: CertificateStore,
  { id, domains }: Pick<StoredCertificate, 'id' | 'domains'>,
): Promise<HostUses['used_by']> => {
  const users = new Map((await store.chosenBy(id)).map((host) => [host.id, host]));
  const left = await store.namesLeftToUs(domains.split(','));
  if (left.length > 0) {
    const bestMatch = createBestMatch(await store.names());
    for (const { name, ...host } of left) if (bestMatch(name)?.id === id) users.set(host.id, host);
  }
  return [...users.values()];
};

/** How many hosts are served with each of some certificates, by id: a few queries, however many they are. */
export const countUsers = async (
  store: CertificateStore,
  certificates: readonly Pick<StoredCertificate, 'id' | 'domains'>[],
): Promise<Map<number, number>> => {
  const counts = new Map<number, number>();
  if (certificates.length === 0) return counts;
  for (const { id, total } of await store.chosenCounts()) counts.set(id, total);
  const left = await store.namesLeftToUs(certificates.flatMap(({ domains }) => domains.split(',')));
  if (left.length === 0) return counts;
  const bestMatch = createBestMatch(await store.names());
  const hosts = new Map<number, Set<number>>();
  for (const { name, id: host } of left) {
    const certificate = bestMatch(name)?.id;
    if (certificate === undefined) continue;
    const served = hosts.get(certificate);
    if (served) served.add(host);
    else hosts.set(certificate, new Set([host]));
  }
  // A host names one or leaves the choice to us: none is counted twice.
  for (const [id, { size }] of hosts) counts.set(id, (counts.get(id) ?? 0) + size);
  return counts;
};
