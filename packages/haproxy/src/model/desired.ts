/** Where the requests of one proxy host go. The address is already resolved: HAProxy never sees a name to look up. */
export type Origin = {
  scheme: 'http' | 'https';
  /** IPv4 or IPv6 literal, without brackets. */
  address: string;
  port: number;
  /** Server name sent to (and, with `verify`, required of) an https origin; empty when the origin was given as an address. */
  sni: string;
  /** Check the https origin's certificate against the system's authorities and `sni`. */
  verify: boolean;
  /** Speak HTTP/2 to the origin (gRPC): prior knowledge over http, ALPN over https. */
  h2: boolean;
};

/** Per-host switches, named as on the wire; hosts may share them. */
export type HostFlags = {
  enabled: boolean;
  ssl_forced: boolean;
  http2_support: boolean;
  hsts_enabled: boolean;
  hsts_subdomains: boolean;
  block_exploits: boolean;
  websocket_support: boolean;
  enable_standard_headers: boolean;
  /** An access list decides who may use this host. */
  access_list?: boolean;
  /** The firewall inspects the requests of this host. */
  firewall?: boolean;
  /** The firewall inspects the answers of this host, too. */
  inspect_responses?: boolean;
  /** The origin is the management API, which is reached by its own socket. */
  own_api?: boolean;
};

/** One proxy host as the data plane should serve it. */
export type DesiredHost = {
  /** Stable small integer, never reused for another host while this one exists. */
  id: number;
  /** Lower-case DNS names (punycode), a leading `*.` allowed. */
  names: readonly string[];
  origin: Origin;
  flags: HostFlags;
  /** Certificate chosen for the host's names; null: the best match by name, else the default certificate. */
  certificate: number | null;
};

/** One certificate as HAProxy should hold it. */
export type DesiredCertificate = {
  id: number;
  /** Leaf certificate, chain and private key in PEM. Secret. */
  pem: string;
  /** DNS names of the leaf certificate (subjectAltName), lower case. */
  names: readonly string[];
  /** End of validity, milliseconds since the epoch; the later one wins when two certificates hold one name. */
  notAfter: number;
};

/** Everything the data plane should serve. */
export type DesiredState = {
  hosts: Iterable<DesiredHost>;
  certificates: Iterable<DesiredCertificate>;
};

/** The same for files that are only written: hosts come in portions, and none is kept. */
export type DesiredFiles = {
  hosts: AsyncIterable<readonly DesiredHost[]>;
  certificates: Iterable<DesiredCertificate>;
};

/** One change of the hosts; `put` adds or replaces the host with its id. */
export type HostChange = { type: 'put'; host: DesiredHost } | { type: 'remove'; id: number };

/** One change of the certificates; `put` adds or replaces the one with its id. */
export type CertificateChange = { type: 'put'; certificate: DesiredCertificate } | { type: 'remove'; id: number };
