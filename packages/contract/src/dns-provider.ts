import { ignoring, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** What the server assigns. */
const ASSIGNED = ['id', 'uuid', 'secrets_set', 'used_by', 'used_by_total', 'created_at', 'updated_at'];

const DnsProviderField = Type.Object(
  {
    key: Type.String({ description: 'Its name in `fields`.' }),
    label: Type.String({ description: 'What to put in.' }),
    secret: Type.Boolean({ description: 'Can be set but never read.' }),
    required: Type.Boolean({ description: "Nothing works without it. Of lego's fields that can't be told." }),
  },
  { title: 'DnsProviderField' },
);
export type DnsProviderField = Static<typeof DnsProviderField>;

export const DnsProviderType = Type.Object(
  {
    type: Type.String(),
    name: Type.String({ description: 'What people call it.' }),
    fields: Type.Array(DnsProviderField),
  },
  { title: 'DnsProviderType' },
);
export type DnsProviderType = Static<typeof DnsProviderType>;

const inputs = {
  name: Type.String({ minLength: 1, maxLength: 100, description: 'What it is called here; no two alike.' }),
  type: Type.String({ minLength: 1, maxLength: 64, description: 'One of GET /dns-providers/types.' }),
  fields: Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 16_384 }), Type.Null()]), {
    description:
      'Values of the fields of its type. In a change the plain ones that are left out are removed, secret ones stay as they ' +
      'are; null removes one. When what may decide where secrets are sent changes (`url`, `nameserver`, `port`, a region), ' +
      'each secret has to be given anew, or be null.',
  }),
};

export const NewDnsProvider = Type.Object(
  { ...inputs, fields: Type.Optional(inputs.fields) },
  ignoring('NewDnsProvider', ASSIGNED),
);
export type NewDnsProvider = Static<typeof NewDnsProvider>;

export const DnsProviderPatch = Type.Partial(Type.Object(inputs), ignoring('DnsProviderPatch', ASSIGNED));
export type DnsProviderPatch = Static<typeof DnsProviderPatch>;

export const DnsProvider = Type.Object(
  {
    id: RowId,
    uuid: Uuid,
    name: inputs.name,
    type: inputs.type,
    fields: Type.Record(Type.String(), Type.String(), { description: 'Values of the fields that are not secret.' }),
    secrets_set: Type.Array(Type.String(), { description: 'Which secret fields have a value.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'DnsProvider' },
);
export type DnsProvider = Static<typeof DnsProvider>;

const CertificateUse = Type.Object({ id: RowId, uuid: Uuid, name: Type.String() }, { title: 'CertificateUse' });

export const DnsProviderInUse = Type.Object(
  {
    ...DnsProvider.properties,
    used_by: Type.Array(CertificateUse, { description: 'Certificates that are proven by it: the first hundred.' }),
    used_by_total: Type.Integer({ minimum: 0, description: 'How many certificates are.' }),
  },
  { title: 'DnsProviderInUse', description: 'A DNS provider with the certificates that are proven by it.' },
);
export type DnsProviderInUse = Static<typeof DnsProviderInUse>;

export const DnsProviderTestRequest = Type.Object(
  {
    zone: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'A name to prove: the record is set at `_acme-challenge.` before it, or where a CNAME there leads.',
    }),
  },
  { title: 'DnsProviderTestRequest' },
);

export const DnsProviderTest = Type.Object(
  {
    ok: Type.Boolean({ description: 'The record was set, seen at the servers of its zone, and taken away.' }),
    message: Type.String({ description: 'What was done, or why it could not be, in words.' }),
    record: Type.String({ description: 'Where the record was set, before CNAME records.' }),
    duration_ms: Type.Integer({ minimum: 0, description: 'How long it took, in milliseconds.' }),
  },
  { title: 'DnsProviderTest' },
);
export type DnsProviderTest = Static<typeof DnsProviderTest>;
