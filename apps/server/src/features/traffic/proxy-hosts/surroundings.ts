import type { Executor } from '@sallyport/store/database/open';
import { createBestMatch, endOf, isCovered } from '../certificates/usage.ts';
import type { StoredProxyHost } from './store.ts';
import type { Surroundings } from './warnings.ts';

export interface SurroundingsDeps {
  db: Executor;
  /** Asked of enforcement, which has it in memory: it is needed for every host that is read. */
  modulesInForce: () => Surroundings['switches'];
  refusedUpgradeAt: (hostId: number) => string | undefined;
  /** Why hosts with `auto_certificate` have no certificate by themselves, by the id of the host. */
  autoCertificates: (hosts: readonly { id: number; names: readonly string[] }[]) => Promise<Map<number, string[]>>;
  clock: () => Date;
}

/** SQLite binds at most 32,766 values a statement. */
const IDS_A_QUERY = 10_000;

/** The rows of those ids that are not null, each once. */
const byId = async <Row extends { id: number }>(
  ids: Iterable<number | null>,
  read: (portion: number[]) => Promise<Row[]>,
): Promise<Map<number, Row>> => {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  const found = new Map<number, Row>();
  for (let from = 0; from < wanted.length; from += IDS_A_QUERY) {
    for (const row of await read(wanted.slice(from, from + IDS_A_QUERY))) found.set(row.id, row);
  }
  return found;
};

const needsBestMatch = ({ certificate_id, ssl_forced, hsts_enabled, auto_certificate }: StoredProxyHost): boolean =>
  certificate_id === null && (ssl_forced || hsts_enabled || auto_certificate);

const getsCertificates = ({ certificate_id, auto_certificate }: StoredProxyHost): boolean =>
  certificate_id === null && auto_certificate;

const countsOnOthers = (host: StoredProxyHost): boolean =>
  host.access_list_id !== null || host.certificate_id !== null || needsBestMatch(host) || getsCertificates(host);

const NOTHING = {
  accessLists: new Map(),
  certificates: new Map(),
  autoCertificates: new Map(),
  hasCertificate: () => true,
  hasRevoked: () => false,
} as const;

/** Reads what the fields of some hosts count on; no more than these hosts need, so that one host stays cheap. */
export const createHostSurroundings = ({
  db,
  modulesInForce,
  refusedUpgradeAt,
  autoCertificates,
  clock,
}: SurroundingsDeps) => {
  /** Which names have a certificate: kept, since there may be as many certificates as hosts. */
  let names: Promise<Pick<Surroundings, 'hasCertificate' | 'hasRevoked'>> | undefined;

  const loadNames = async () => {
    const rows = await db
      .selectFrom('certificates')
      .select(['id', 'domains', 'expires_at', 'revoked_at'])
      .where('is_placeholder', '=', 0)
      .execute();
    const bestMatch = createBestMatch(rows.map((row) => ({ ...row, expires_at: endOf(row) })));
    return {
      hasCertificate: (name: string) => bestMatch(name) !== undefined,
      hasRevoked: (name: string) => (bestMatch(name)?.revoked_at ?? null) !== null,
    };
  };

  const covering = (): NonNullable<typeof names> => {
    names ??= loadNames().catch((error: unknown) => {
      names = undefined;
      throw error;
    });
    return names;
  };

  return {
    /** To be told whenever certificates changed, here or on another node. */
    certificatesChanged(): void {
      names = undefined;
    },

    async of(hosts: readonly StoredProxyHost[]): Promise<Surroundings> {
      const around = { switches: modulesInForce(), refusedUpgradeAt, now: clock() };
      // Most hosts refer to nothing, and every one that is read comes by here.
      if (!hosts.some(countsOnOthers)) return { ...around, ...NOTHING };
      const lists = await byId(
        hosts.map(({ access_list_id }) => access_list_id),
        (ids) => db.selectFrom('access_lists').select(['id', 'name', 'enabled']).where('id', 'in', ids).execute(),
      );
      const certificates = await byId(
        hosts.map(({ certificate_id }) => certificate_id),
        (ids) =>
          db
            .selectFrom('certificates')
            .select(['id', 'name', 'domains', 'expires_at', 'revoked_at'])
            .where('id', 'in', ids)
            .execute(),
      );
      return {
        ...around,
        accessLists: new Map([...lists].map(([id, { name, enabled }]) => [id, { name, enabled: enabled === 1 }])),
        certificates: new Map(
          [...certificates].map(([id, { name, domains, expires_at, revoked_at }]) => {
            const covered = domains.split(',');
            return [id, { name, expires_at, revoked_at, covers: (asked: string) => isCovered(covered, asked) }];
          }),
        ),
        autoCertificates: await autoCertificates(
          hosts.filter(getsCertificates).map(({ id, domain }) => ({ id, names: domain.split(',') })),
        ),
        ...(hosts.some(needsBestMatch)
          ? await covering()
          : { hasCertificate: NOTHING.hasCertificate, hasRevoked: NOTHING.hasRevoked }),
      };
    },
  };
};
