import type { ChallengeAnswer } from '@sallyport/haproxy';
import type { Executor } from '@sallyport/store/database/open';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { RouteSource } from '../../dataplane/routes/source.ts';
import { challengeStore } from './acme/challenges/store.ts';
import { toCertificateSource } from './certificates/source.ts';
import { certificateStore } from './certificates/store.ts';
import { toHostRoute } from './proxy-hosts/route.ts';
import { proxyHostStore } from './proxy-hosts/store.ts';

export { checkStoredTraffic } from './check-stored.ts';

/** The same source, which tells `notice` of what it read before it goes to the proxy. */
export const noticing = (source: RouteSource, notice: () => Promise<void>): RouteSource => ({
  ...source,
  async hostsById(ids) {
    const found = await source.hostsById(ids);
    await notice();
    return found;
  },
  async *allHosts() {
    for await (const portion of source.allHosts()) {
      await notice();
      yield portion;
    }
  },
});

/** What certificate authorities are answered at `now`. */
export const storedChallenges = (db: Executor, now: Date): Promise<ChallengeAnswer[]> =>
  challengeStore(db).live(now.toISOString());

/** Wires the stores of the features to what the data plane reads. */
export const createRouteSource = (db: Executor, vault: Vault): RouteSource => {
  const hosts = proxyHostStore(db);
  const certificates = certificateStore(db);
  return {
    hostsById: async (ids) => (await hosts.routesByIds(ids)).map(toHostRoute),
    async *allHosts() {
      for await (const portion of hosts.allRoutes()) yield portion.map(toHostRoute);
    },
    async certificatesById(ids) {
      const found = await certificates.findByIds(ids);
      return found.map((certificate) => toCertificateSource(certificate, vault));
    },
    allCertificates: async () =>
      (await certificates.list()).map((certificate) => toCertificateSource(certificate, vault)),
    async revision() {
      const row = await db.selectFrom('revisions').select('revision').where('id', '=', 1).executeTakeFirst();
      return Number(row?.revision ?? 0);
    },
  };
};
