import type { Generated } from 'kysely';

type Flag = number;
type IsoTime = string;

/** An account with a certificate authority that speaks ACME (RFC 8555). */
export interface AcmeAccountRow {
  id: Generated<number>;
  uuid: string;
  name: string;
  directory_url: string;
  email: string;
  terms_agreed: Flag;
  /** PKCS#8 PEM of the account's key, sealed by `secrets/vault.ts`. */
  key_sealed: string;
  /** What the authority calls it; null until it is registered. */
  account_url: string | null;
  eab_kid: string | null;
  /** Key of the external account binding (base64url), sealed; null without one. */
  eab_hmac_sealed: string | null;
  /** PEM of the root that the directory's TLS certificate is verified with; null: the system's. */
  ca_certificate: string | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** What may be written to a DNS zone, and how. */
export interface DnsProviderRow {
  id: Generated<number>;
  uuid: string;
  name: string;
  type: string;
  /** JSON object of the fields that may be shown. */
  fields: string;
  /** JSON object of the secret fields, sealed; null without any. */
  secrets_sealed: string | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** How a certificate that nobody uploaded is had and kept, and how far the order under way is. */
export interface CertificateOrderRow {
  certificate_id: number;
  /** `acme` or `internal`. */
  issuer: string;
  account_id: number | null;
  dns_provider_id: number | null;
  /** `http-01` or `dns-01`; null for the internal authority. */
  challenge: string | null;
  key_type: string;
  /** Comma-separated names to order, as `certificates.domains`. */
  names: string;
  /** Ordered for a host with `auto_certificate`: kept while a host needs it. */
  is_auto: Flag;
  /** The order under way at the authority; null when there is none. */
  order_url: string | null;
  /** Key of the certificate that is being ordered, sealed; it is in place before the authority sees its CSR. */
  order_key_sealed: string | null;
  /** JSON of `[{name, status, message}]` of the last attempt. */
  steps: string;
  /** Why the last attempt failed, in words; null when it did not. */
  issue: string | null;
  /** JSON of the authority's problem document; null when it sent none. */
  problem: string | null;
  /** How many attempts failed since the last that did not. */
  failures: number;
  last_attempt_at: IsoTime | null;
  /** When it is ordered, renewed or tried again; null: not by itself. */
  next_attempt_at: IsoTime | null;
  /** When it is due for renewal; null until it was issued. */
  renew_after: IsoTime | null;
  /** Before this time the authority need not be asked for its renewal window again (RFC 9773). */
  ari_checked_until: IsoTime | null;
  /** The node that works at it, and until when nobody else does. Both empty: nobody. */
  leased_by: string;
  leased_until: IsoTime;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** What was asked of an authority, so that its limits are kept. */
export interface OrderLedgerRow {
  id: Generated<number>;
  directory_url: string;
  account_url: string;
  /** Comma-separated, sorted. */
  names: string;
  /** Comma-separated registered domains of the names, sorted. */
  registered_domains: string;
  is_renewal: Flag;
  /** `ordered`, `issued` or `refused`; `failed`: no order, but that the validations of these names failed. */
  outcome: string;
  ordered_at: IsoTime;
}

/** An answer to an HTTP-01 challenge, which every node gives. */
export interface AcmeChallengeRow {
  token: string;
  key_authorization: string;
  created_at: IsoTime;
  expires_at: IsoTime;
}

/** One row: the authority for names that no public one can reach. */
export interface InternalCaRow {
  id: number;
  root_pem: string;
  /** PKCS#8 PEM, sealed. */
  key_sealed: string;
  created_at: IsoTime;
}

/** A certificate that is revoked, as far as is known here: also one that is not stored any more, or not again. */
export interface RevokedCertificateRow {
  /** SHA-256 of the certificate: bytes in hex, with colons. */
  fingerprint: string;
  revoked_at: IsoTime;
  /** When it ends by itself: then nobody has to know any more. */
  expires_at: IsoTime;
}

/** A revocation that an authority was asked for, until it is noted what came of it. */
export interface RevocationRow {
  fingerprint: string;
  /** JSON of what is told of the certificate: id, uuid, name, provider, domains, expires_at. */
  certificate: string;
  chain_pem: string;
  /** The account that it was ordered with. */
  account_id: number;
  reason: string;
  /** JSON of the actor. */
  asked_by: string;
  asked_at: IsoTime;
  /** How often the answer was lost. */
  failures: number;
  next_attempt_at: IsoTime;
  /** Until when nobody else asks for it; empty: nobody does. */
  leased_until: IsoTime;
}

export interface AcmeTables {
  acme_accounts: AcmeAccountRow;
  dns_providers: DnsProviderRow;
  certificate_orders: CertificateOrderRow;
  order_ledger: OrderLedgerRow;
  acme_challenges: AcmeChallengeRow;
  internal_ca: InternalCaRow;
  revoked_certificates: RevokedCertificateRow;
  revocations: RevocationRow;
}
