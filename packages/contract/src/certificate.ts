import { usedBy } from './host-uses.ts';
import { choice, ListQuery, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, type TSchema, Type } from './schema.ts';
import { GivenPassword } from './user.ts';
import { Warning } from './warning.ts';

const provider = choice(['custom', 'letsencrypt', 'internal'], {
  description: 'Where it came from: uploaded (custom), ordered (letsencrypt) or made here (internal).',
});
const STATUSES = ['pending', 'valid', 'failed', 'revoked'] as const;

const identity = {
  id: RowId,
  uuid: Uuid,
  name: Type.String(),
  provider,
  domains: Type.String({ description: 'Comma-separated names the certificate is valid for.' }),
};

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const KEY_TYPES = ['p256', 'p384', 'rsa2048', 'rsa4096'] as const;
export const CHALLENGES = ['http-01', 'dns-01'] as const;

/** How far an order is, step by step. */
export const CertificateStep = Type.Object(
  {
    name: choice(['preflight', 'account', 'order', 'challenge', 'validation', 'issue', 'install']),
    status: choice(['waiting', 'running', 'done', 'failed']),
    message: Type.String({ description: 'What was done, or why it failed, in words.' }),
  },
  { title: 'CertificateStep' },
);
export type CertificateStep = Static<typeof CertificateStep>;

/** The authority's own words (RFC 7807, RFC 8555 section 6.7). */
export const AcmeProblemDocument = Type.Object(
  {
    type: Type.String(),
    detail: Type.String(),
    status: Type.Union([Type.Integer(), Type.Null()]),
    subproblems: Type.Array(
      Type.Object({ name: Type.String(), type: Type.String(), detail: Type.String() }, { title: 'AcmeSubproblem' }),
    ),
  },
  { title: 'AcmeProblemDocument' },
);
export type AcmeProblemDocument = Static<typeof AcmeProblemDocument>;

/** How a certificate that nobody uploaded is had and kept. */
export const CertificateSource = Type.Object(
  {
    issuer: choice(['acme', 'internal']),
    account_id: orNull(RowId, 'The account it is ordered with.'),
    account: orNull(Type.String(), 'Its name.'),
    dns_provider_id: orNull(RowId, 'What writes its records, for dns-01.'),
    dns_provider: orNull(Type.String(), 'Its name.'),
    challenge: orNull(choice(CHALLENGES), 'How the names are proven; null for the internal authority.'),
    key_type: choice(KEY_TYPES),
    is_auto: Type.Boolean({ description: 'Had for a host with auto_certificate, and kept while a host needs it.' }),
  },
  { title: 'CertificateSource' },
);
export type CertificateSource = Static<typeof CertificateSource>;

/** What is told of the keeping of a certificate; of an uploaded one: nothing. */
const keeping = {
  status: choice(STATUSES, {
    description:
      'pending: ordered and not there yet (a self-signed one stands in for it); failed: the order failed, see issue; valid: ' +
      'it is there, also when its renewal failed; revoked: its authority took it back, and no other one is in its place.',
  }),
  source: orNull(CertificateSource, 'How it is had and kept; null for an uploaded one, which is kept by nobody.'),
  steps: Type.Array(CertificateStep, { description: 'The steps of the last attempt to have or renew it.' }),
  problem: orNull(AcmeProblemDocument, 'What the authority answered to the last attempt, when that failed there.'),
  last_attempt_at: orNull(Timestamp, 'When it was last tried.'),
  next_attempt_at: orNull(Timestamp, 'When it is tried next by itself; null when it is not.'),
  renew_after: orNull(Timestamp, 'When it is due for renewal.'),
};

export const Certificate = Type.Object(
  {
    ...identity,
    expires_at: orNull(Timestamp, 'When it expires; null until it is there.'),
    created_at: Timestamp,
    revoked_at: orNull(
      Timestamp,
      'When it was revoked from here; also when it was brought here again since. Null: it was not.',
    ),
    applied: Type.Boolean({ description: 'The proxy holds it, as read back from it.' }),
    issue: orNull(Type.String(), 'Why the proxy lacks it, why it could not be had, or what to attend to.'),
    ...keeping,
  },
  { title: 'Certificate' },
);
export type Certificate = Static<typeof Certificate>;

export const ListedCertificate = Type.Object(
  { ...Certificate.properties, used_by_total: usedBy.used_by_total },
  { title: 'ListedCertificate' },
);
export type ListedCertificate = Static<typeof ListedCertificate>;

export const CertificateQuery = Type.Object(
  {
    ...ListQuery.properties,
    status: Type.Optional(choice(STATUSES, { description: 'Only those that are so far.' })),
    provider: Type.Optional(provider),
    expires_before: Type.Optional({ ...Timestamp, description: 'Only those that are there and expire before.' }),
  },
  { title: 'CertificateQuery' },
);
export type CertificateQuery = Static<typeof CertificateQuery>;

/** Why a certificate is revoked (RFC 5280, section 5.3.1), with the code that authorities are told. */
export const REVOCATION_REASONS = {
  unspecified: 0,
  key_compromise: 1,
  affiliation_changed: 3,
  superseded: 4,
  cessation_of_operation: 5,
} as const;
export type RevocationReason = keyof typeof REVOCATION_REASONS;

export const CertificateRevocation = Type.Object(
  {
    reason: Type.Optional(
      choice(Object.keys(REVOCATION_REASONS) as RevocationReason[], {
        description:
          'What the authority is told. key_compromise: somebody else has, or may have, its key. cessation_of_operation: nobody needs it any ' +
          'more, so none is ordered in its place. Default unspecified.',
      }),
    ),
    password: Type.Optional({ ...GivenPassword, description: "The caller's own, again. An API token needs none." }),
  },
  { title: 'CertificateRevocation', additionalProperties: false },
);
export type CertificateRevocation = Static<typeof CertificateRevocation>;

export const RevokedCertificate = Type.Object(
  {
    certificate: Certificate,
    message: Type.String({ description: 'What the authority did, and what comes next.' }),
  },
  { title: 'RevokedCertificate' },
);
export type RevokedCertificate = Static<typeof RevokedCertificate>;

export const ReplacedCertificate = Type.Object(
  {
    ...Certificate.properties,
    warnings: Type.Array(Warning, {
      description: 'What is different now: names that hosts use and that it lacks, that nobody renews it any more.',
    }),
  },
  { title: 'ReplacedCertificate' },
);
export type ReplacedCertificate = Static<typeof ReplacedCertificate>;

export const CertificateInUse = Type.Object(
  { ...Certificate.properties, ...usedBy },
  { title: 'CertificateInUse', description: 'A certificate with the proxy hosts that are served with it.' },
);
export type CertificateInUse = Static<typeof CertificateInUse>;

export const UploadedCertificate = Type.Object(
  {
    ...identity,
    warning: Type.Optional(
      Type.String({
        description: 'Present when it is expired or not yet valid, or when the proxy does not hold it (yet).',
      }),
    ),
  },
  { title: 'UploadedCertificate' },
);
export type UploadedCertificate = Static<typeof UploadedCertificate>;

export const KeyDownload = Type.Object(
  {
    password: GivenPassword,
    pkcs12_password: Type.Optional(
      Type.String({
        minLength: 8,
        maxLength: 128,
        // Programs don't agree on the bytes of others.
        pattern: '^[ -~]+$',
        description:
          'With it the answer is a PKCS #12 (.p12) that it protects, for Windows and Java: printable ASCII. Default: PEM.',
      }),
    ),
  },
  { title: 'KeyDownload' },
);
export type KeyDownload = Static<typeof KeyDownload>;
