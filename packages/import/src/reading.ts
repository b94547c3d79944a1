/** A file that was uploaded. */
export interface SourceFile {
  name: string;
  content: string;
  /** How the content is written; text unless said. */
  encoding?: 'base64';
}

/** Where something was said: 1-based. */
export interface Place {
  file: string;
  line: number;
  column?: number;
}

export interface ImportWarning extends Place {
  message: string;
}

/** A host as a source describes it; the fields are those of a proxy host of ours. What is absent has our default. */
export interface ImportedHost extends Place {
  /** Comma-separated names, lower case, as our API takes them. */
  domain: string;
  forward_scheme: 'http' | 'https';
  forward_host: string;
  forward_port: number;
  ssl_forced?: boolean;
  http2_support?: boolean;
  hsts_enabled?: boolean;
  hsts_subdomains?: boolean;
  websocket_support?: boolean;
  block_exploits?: boolean;
  enable_standard_headers?: boolean;
  waf_enabled?: boolean;
  forward_verify_tls?: boolean;
  forward_http2?: boolean;
  forward_reserved?: boolean;
  auto_certificate?: boolean;
  waf_inspect_responses?: boolean;
  waf_allowed_methods?: string | null;
  waf_allowed_content_types?: string | null;
  waf_body_limit?: number | null;
  name?: string;
  enabled?: boolean;
  /** The name of one of the access lists of the reading. */
  access_list?: string;
  /** The name of one of the certificates of the reading. With `auto_certificate` it serves until the host has one of its own. */
  certificate?: string;
  /** What of it a proxy host can not express, in plain words. */
  warnings: ImportWarning[];
}

/** An access list as a source describes it; the fields are those of one of ours. */
export interface ImportedAccessList {
  name: string;
  description?: string;
  type: 'allow' | 'deny' | 'geo_allow' | 'geo_deny';
  rules: { cidr: string; description?: string }[];
  countries?: string[];
  local_network_only?: boolean;
  enabled?: boolean;
}

/** A certificate of a source with its key, which is a secret: PEM that fits together, the leaf first. */
export interface ImportedCertificate {
  name: string;
  /** The DNS names it is valid for. */
  names: string[];
  certificatePem: string;
  keyPem: string;
}

export interface SourceError extends Place {
  message: string;
  /** The offending piece, at most 200 characters. */
  text?: string;
}

/** What was understood of files. `hosts` is what can be imported even when there are errors in other sites. */
export interface Reading {
  /** Null when it is nothing known. */
  source: 'caddyfile' | 'nginx' | 'traefik' | 'haproxy' | 'nginx-proxy-manager' | 'charon' | 'sallyport' | null;
  hosts: ImportedHost[];
  /** That guard hosts; their names differ. Absent for sources that have none. */
  accessLists?: ImportedAccessList[];
  /** That hosts are served with; their names differ. Absent for sources that have none. */
  certificates?: ImportedCertificate[];
  /** That belong to no host. */
  warnings: ImportWarning[];
  errors: SourceError[];
  /** Uses of directives that serve files, for which the specification wants a refusal by itself. */
  staticFiles: ImportWarning[];
}
