import { CHALLENGES, KEY_TYPES } from './certificate.ts';
import { choice, ignoring, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';

const reference = (description: string) => Type.Union([RowId, Uuid, Type.Null()], { description });

const accountFields = {
  name: Type.String({ minLength: 1, maxLength: 100, description: 'What it is called here; no two alike.' }),
  directory_url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description:
      'The directory of the authority, https. Shorthands: letsencrypt, letsencrypt-staging, zerossl, google, buypass. It may be ' +
      'at a private address; what it names in turn must be of the same host.',
  }),
  email: Type.String({ maxLength: 254, description: 'Where the authority may write to; may be empty.' }),
};

export const NewAcmeAccount = Type.Object(
  {
    ...accountFields,
    email: Type.Optional(accountFields.email),
    terms_agreed: Type.Boolean({
      description: "You agree to the authority's terms of service; false is refused with where they are found.",
    }),
    eab_kid: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Null()])),
    eab_hmac_key: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 1_000 }), Type.Null()], {
        description: 'base64url, as the authority gives it. Write-only.',
      }),
    ),
    ca_certificate: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 100_000 }), Type.Null()], {
        description: "PEM of the root that the directory's own certificate is verified with; null: the system's.",
      }),
    ),
  },
  ignoring('NewAcmeAccount', ['id', 'uuid', 'registered', 'created_at', 'updated_at', 'used_by', 'used_by_total']),
);
export type NewAcmeAccount = Static<typeof NewAcmeAccount>;

export const AcmeAccount = Type.Object(
  {
    id: RowId,
    uuid: Uuid,
    ...accountFields,
    terms_agreed: Type.Boolean(),
    eab_kid: Type.Union([Type.String(), Type.Null()]),
    ca_certificate: Type.Union([Type.String(), Type.Null()]),
    registered: Type.Boolean({ description: 'The authority knows it.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AcmeAccount' },
);
export type AcmeAccount = Static<typeof AcmeAccount>;

export const AcmeAccountPatch = Type.Partial(
  Type.Object({
    name: NewAcmeAccount.properties.name,
    directory_url: accountFields.directory_url,
    email: accountFields.email,
    terms_agreed: Type.Boolean(),
    eab_kid: Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Null()]),
    ca_certificate: Type.Union([Type.String({ minLength: 1, maxLength: 100_000 }), Type.Null()]),
  }),
  {
    ...ignoring('AcmeAccountPatch', [
      'id',
      'uuid',
      'registered',
      'created_at',
      'updated_at',
      'used_by',
      'used_by_total',
    ]),
    description:
      'name and ca_certificate can be changed; the rest is what the authority registered, and may only be given as it is.',
  },
);
export type AcmeAccountPatch = Static<typeof AcmeAccountPatch>;

const CertificateUse = Type.Object({ id: RowId, uuid: Uuid, name: Type.String() }, { title: 'CertificateUse' });

/** Fields of an object that the keeping of certificates refers to; in the answer to GET of that one object only. */
export const usedByCertificates = {
  used_by: Type.Array(CertificateUse, { description: 'Certificates that are kept with it: the first hundred.' }),
  used_by_total: Type.Integer({ minimum: 0, description: 'How many certificates are kept with it.' }),
};

const CertificateUses = Type.Object(usedByCertificates);
export type CertificateUses = Static<typeof CertificateUses>;

export const AcmeAccountInUse = Type.Object(
  { ...AcmeAccount.properties, ...usedByCertificates },
  { title: 'AcmeAccountInUse', description: 'An account with the certificates that are ordered with it.' },
);
export type AcmeAccountInUse = Static<typeof AcmeAccountInUse>;

const orderFields = {
  names: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
    minItems: 1,
    maxItems: 100,
    description: 'DNS names and addresses; `*.` in front takes dns-01.',
  }),
  challenge: Type.Optional(
    choice(CHALLENGES, { description: 'Default: dns-01 when a provider is named, else http-01.' }),
  ),
  account_id: Type.Optional(reference('Default: the only account, else the one that the setting acme.account names.')),
  dns_provider_id: Type.Optional(reference('What writes the records of dns-01.')),
  key_type: Type.Optional(choice(KEY_TYPES, { description: 'Default p256.' })),
};

export const NewCertificateOrder = Type.Object(
  {
    ...orderFields,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Label. Default: the first name.' })),
    provider: Type.Optional(
      choice(['letsencrypt', 'internal'], {
        description: 'internal: of the internal authority, at once. Default letsencrypt: of the account, by ACME.',
      }),
    ),
  },
  { title: 'NewCertificateOrder', additionalProperties: false },
);
export type NewCertificateOrder = Static<typeof NewCertificateOrder>;

export const PreflightCheck = Type.Object(
  {
    name: Type.String({ description: 'What was looked at, e.g. resolves, port-80, caa, zone, limits, account.' }),
    subject: Type.String({ description: 'The name it is about; empty: all.' }),
    ok: Type.Boolean(),
    message: Type.String({ description: 'What was seen.' }),
    fix: Type.Union([Type.String(), Type.Null()], { description: 'What to do about it; null when it is fine.' }),
    blocks: Type.Boolean({
      description:
        'An order is not sent to the authority while this is so. False where it may only look so from here, as behind a router ' +
        'that does not lead its own public address back inside.',
    }),
  },
  { title: 'PreflightCheck' },
);
export type PreflightCheck = Static<typeof PreflightCheck>;

export const Preflight = Type.Object(
  { ok: Type.Boolean(), checks: Type.Array(PreflightCheck) },
  { title: 'Preflight', description: 'What would keep an order from succeeding.' },
);
export type Preflight = Static<typeof Preflight>;
