import type { DesiredCertificate, DesiredHost } from '../model/desired.ts';
import { isServableName } from '../routes/route-record.ts';

/** What a TLS client that asks for a name gets: a certificate (null: the default one), and HTTP/2 or not. */
export type TlsTarget = { certificate: number | null; http2: boolean };

/** What the list has to know of a host. */
export type HostTls = Pick<DesiredHost, 'certificate'> & {
  names: Iterable<string>;
  flags: Pick<DesiredHost['flags'], 'http2_support'>;
};
type CertificateNames = Pick<DesiredCertificate, 'id' | 'names' | 'notAfter'>;

export const isSameTarget = (a: TlsTarget | undefined, b: TlsTarget | undefined): boolean =>
  a?.certificate === b?.certificate && a?.http2 === b?.http2;

const wildcardOf = (name: string): string => `*${name.slice(name.indexOf('.'))}`;
const isWildcard = (name: string): boolean => name.startsWith('*.');

/** Whether it asks for nothing but the best match by name. */
const isPlain = ({ certificate, flags }: HostTls): boolean => certificate === null && flags.http2_support;

/** The certificate list's entries by server name. A name without an entry gets its wildcard's, else the default certificate with HTTP/2. */
export type TlsEntries = {
  readonly entries: ReadonlyMap<string, TlsTarget>;
  /** Starts over. Linear in hosts and certificates; goes through the hosts once or twice. */
  reset(hosts: Iterable<HostTls>, certificates: Iterable<CertificateNames>): void;
  /**
   * Takes one changed host; returns whether any entry changed, or 'all' when other hosts' entries may depend on it
   * (a wildcard): then `reset` is due.
   */
  change(before: HostTls | undefined, after: HostTls | undefined): boolean | 'all';
};

/**
 * Every certificate has an entry for each of its own names; a host needs one only where it wants something else.
 * So 100,000 hosts below a few certificates cost a few entries, and a change of a host usually none.
 */
export const createTlsEntries = (): TlsEntries => {
  let entries = new Map<string, TlsTarget>();
  let known = new Set<number>();
  /** Name of a certificate → the certificate that answers for it. */
  let winners = new Map<string, number>();

  const pickWinners = (certificates: readonly CertificateNames[]): Map<string, number> => {
    const picked = new Map<string, CertificateNames>();
    for (const certificate of certificates) {
      for (const name of certificate.names) {
        const rival = picked.get(name);
        const isBetter =
          rival === undefined ||
          certificate.notAfter > rival.notAfter ||
          (certificate.notAfter === rival.notAfter && certificate.id > rival.id);
        if (isBetter && isServableName(name)) picked.set(name, certificate);
      }
    }
    return new Map([...picked].map(([name, { id }]) => [name, id]));
  };

  const ownTarget = (name: string): TlsTarget | undefined => {
    const certificate = winners.get(name);
    return certificate === undefined ? undefined : { certificate, http2: true };
  };

  const wanted = (host: HostTls, name: string): TlsTarget => {
    const chosen = host.certificate !== null && known.has(host.certificate) ? host.certificate : undefined;
    const certificate = chosen ?? winners.get(name) ?? (isWildcard(name) ? undefined : winners.get(wildcardOf(name)));
    return { certificate: certificate ?? null, http2: host.flags.http2_support };
  };

  /** What the name gets without an entry of its host. */
  const inherited = (name: string): TlsTarget =>
    ownTarget(name) ??
    (isWildcard(name) ? undefined : entries.get(wildcardOf(name))) ?? { certificate: null, http2: true };

  const entryFor = (host: HostTls, name: string): TlsTarget | undefined => {
    const target = wanted(host, name);
    return isSameTarget(target, inherited(name)) ? ownTarget(name) : target;
  };

  const put = (name: string, target: TlsTarget | undefined): boolean => {
    if (isSameTarget(entries.get(name), target)) return false;
    if (target === undefined) entries.delete(name);
    else entries.set(name, target);
    return true;
  };

  return {
    get entries() {
      return entries;
    },
    reset(hosts, certificates) {
      const all = [...certificates];
      known = new Set(all.map(({ id }) => id));
      winners = pickWinners(all);
      entries = new Map();
      for (const name of winners.keys()) put(name, ownTarget(name));
      const putExact = (host: HostTls): void => {
        for (const name of host.names) if (!isWildcard(name)) put(name, entryFor(host, name));
      };
      const special: HostTls[] = [];
      let deviates = false;
      // Wildcards first: what an exact name inherits depends on them.
      for (const host of hosts) {
        if (!isPlain(host)) special.push(host);
        for (const name of host.names) {
          if (!isWildcard(name)) continue;
          put(name, entryFor(host, name));
          deviates ||= !isSameTarget(entries.get(name), ownTarget(name));
        }
      }
      for (const host of special) putExact(host);
      // Nearly all of a million hosts want what they inherit, unless a wildcard host wants something else.
      if (deviates) for (const host of hosts) if (isPlain(host)) putExact(host);
    },
    change(before, after) {
      const targets = new Map<string, TlsTarget | undefined>();
      for (const name of before?.names ?? []) targets.set(name, ownTarget(name));
      for (const name of after?.names ?? []) targets.set(name, after && entryFor(after, name));
      let hasChanged = false;
      for (const [name, target] of targets) {
        if (!put(name, target)) continue;
        if (isWildcard(name)) return 'all';
        hasChanged = true;
      }
      return hasChanged;
    },
  };
};
