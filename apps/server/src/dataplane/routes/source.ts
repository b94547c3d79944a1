import type { DesiredCertificate, DesiredHost } from '@sallyport/haproxy';

/** A stored proxy host on its way to the data plane; only the origin's address is still missing. */
export interface HostRoute {
  id: number;
  /** Name or address of the origin, as the operator gave it. */
  originHost: string;
  originPort: number;
  /** Whether the origin may be an address that is kept from ordinary hosts (see `origin-guard.ts`). */
  mayReachReserved: boolean;
  at(address: string): DesiredHost;
}

/** A stored certificate; `open` decrypts its key and throws when it can't. */
export interface CertificateSource {
  id: number;
  /** Another one for each chain that has its place, and for what only stands in for one. */
  version: string;
  open(): DesiredCertificate;
}

/** Where the data plane reads what it should serve; always the newest committed state. */
export interface RouteSource {
  /** Those of `ids` that exist. */
  hostsById(ids: readonly number[]): Promise<HostRoute[]>;
  allHosts(): AsyncIterable<HostRoute[]>;
  certificatesById(ids: readonly number[]): Promise<CertificateSource[]>;
  allCertificates(): Promise<CertificateSource[]>;
  /** The revision of the newest committed change. */
  revision(): Promise<number>;
}
