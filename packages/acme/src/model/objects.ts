/** One name's share of a problem that concerns several (RFC 8555, section 6.7.1). */
export interface Subproblem {
  /** The name it is about; empty when it is about none. */
  name: string;
  type: string;
  detail: string;
}

/** A problem document (RFC 9457) as the CA wrote it, bounded, control characters removed. */
export interface Problem {
  /** `urn:ietf:params:acme:error:…`; `about:blank` when the CA gave none. */
  type: string;
  detail: string;
  /** The HTTP status; 0 when there is none. */
  status: number;
  subproblems: readonly Subproblem[];
}

/** What a CA tells of itself (RFC 8555, section 7.1.1). All URLs are https, and of the directory's own host and port. */
export interface AcmeDirectory {
  newNonce: string;
  newAccount: string;
  newOrder: string;
  revokeCert: string | undefined;
  /** Where it tells when to renew (RFC 9773); undefined when it does not. */
  renewalInfo: string | undefined;
  /** What an account has to agree to: a URL for people, http, https or `data:text/plain`, of whatever host. */
  termsOfService: string | undefined;
  website: string | undefined;
  /** What a CAA record names to permit this CA. */
  caaIdentities: readonly string[];
  /** Whether an account is to be bound to one that its owner has with the CA already. */
  externalAccountRequired: boolean;
  /** Profiles that orders may ask for, with what the CA says about each. */
  profiles: Readonly<Record<string, string>>;
}

export type OrderStatus = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';

export interface Order {
  url: string;
  status: OrderStatus;
  /** Normalised: lower case, IPv6 addresses in their shortest form. */
  names: readonly string[];
  /** URLs, one per name. */
  authorizations: readonly string[];
  /** Where the request for the certificate goes once the order is `ready`. */
  finalize: string;
  /** Where the certificate is, once the order is `valid`. */
  certificate: string | undefined;
  expires: Date | undefined;
  error: Problem | undefined;
}

export type AuthorizationStatus = 'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired' | 'revoked';
export type ChallengeStatus = 'pending' | 'processing' | 'valid' | 'invalid';

export interface Challenge {
  /** `http-01`, `dns-01`, `tls-alpn-01`, or one that is newer than this. */
  type: string;
  url: string;
  status: ChallengeStatus;
  /** Letters, digits, `-` and `_` only: safe in a path, a map and a record. */
  token: string;
  error: Problem | undefined;
}

export interface Authorization {
  url: string;
  /** Without the `*.` of a wildcard. The caller compares it with what was ordered before it changes a zone by it. */
  name: string;
  wildcard: boolean;
  status: AuthorizationStatus;
  /** Those that have a token; any one of them suffices. */
  challenges: readonly Challenge[];
  expires: Date | undefined;
}

/** When the CA wants a certificate renewed (RFC 9773). */
export interface RenewalInfo {
  windowStart: Date;
  windowEnd: Date;
  /** A page for people about why. */
  explanationUrl: string | undefined;
  /** When to ask again: within a minute and a day. */
  retryAfter: Date;
}
