import { usedBy } from './host-uses.ts';
import { choice, ignoring, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';
import { Warning } from './warning.ts';

/** What the server assigns. */
const ASSIGNED = ['id', 'uuid', 'warnings', 'used_by', 'used_by_total', 'created_at', 'updated_at'];

const AccessRule = Type.Object({
  cidr: Type.String({ minLength: 1, maxLength: 64, description: 'IP address or CIDR range; stored canonically.' }),
  description: Type.Optional(Type.String({ maxLength: 1_024, description: 'Default: empty.' })),
});

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255, description: 'Label; unique.' }),
  description: Type.String({ maxLength: 4_096, description: 'Default: empty.' }),
  type: choice(['allow', 'deny', 'geo_allow', 'geo_deny'], {
    description:
      'allow: only clients in rules. deny: all but clients in rules. geo_allow, geo_deny: the same by countries; ' +
      'clients in rules are then admitted whatever their country.',
  }),
  rules: Type.Array(AccessRule, { maxItems: 5_000, description: 'Networks. Default: none.' }),
  countries: Type.Array(Type.String({ minLength: 2, maxLength: 2, pattern: '^[A-Za-z]{2}$' }), {
    maxItems: 300,
    description: 'ISO 3166-1 alpha-2 codes; for geo lists only. Default: none.',
  }),
  local_network_only: Type.Boolean({
    description:
      'Refuse whoever is not in a private, loopback or link-local network before anything else. Default false.',
  }),
  enabled: Type.Boolean({ description: 'A list that is off admits everybody. Default true.' }),
};

export const ACCESS_LIST_DEFAULTS = {
  description: '',
  rules: [],
  countries: [],
  local_network_only: false,
  enabled: true,
} as const;

const { name, type, ...optional } = fields;
export const NewAccessList = Type.Object(
  { name, type, ...Type.Partial(Type.Object(optional)).properties },
  ignoring('NewAccessList', ASSIGNED),
);
export type NewAccessList = Static<typeof NewAccessList>;

export const AccessListPatch = Type.Partial(Type.Object(fields), ignoring('AccessListPatch', ASSIGNED));
export type AccessListPatch = Static<typeof AccessListPatch>;

export const AccessListFields = Type.Object(fields, { title: 'AccessListFields' });
export type AccessListFields = Static<typeof AccessListFields>;

export const AccessList = Type.Object(
  {
    id: RowId,
    uuid: Uuid,
    ...fields,
    warnings: Type.Array(Warning, { description: 'What the list will not do although its fields say so.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AccessList' },
);
export type AccessList = Static<typeof AccessList>;

export const AccessListInUse = Type.Object(
  { ...AccessList.properties, ...usedBy },
  { title: 'AccessListInUse', description: 'An access list with the proxy hosts that it guards.' },
);
export type AccessListInUse = Static<typeof AccessListInUse>;

export const AccessTest = Type.Object({ ip: Type.String({ minLength: 1, maxLength: 64 }) }, { title: 'AccessTest' });
export type AccessTest = Static<typeof AccessTest>;

export const AccessDraftTest = Type.Object(
  {
    type: fields.type,
    rules: Type.Optional(fields.rules),
    countries: Type.Optional(fields.countries),
    local_network_only: Type.Optional(fields.local_network_only),
    enabled: Type.Optional(fields.enabled),
    ip: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Default: the address this request comes from.' }),
    ),
  },
  { title: 'AccessDraftTest', additionalProperties: false, description: 'What decides of a list, and an address.' },
);
export type AccessDraftTest = Static<typeof AccessDraftTest>;

export const AccessDraftResult = Type.Object(
  {
    ip: Type.String({ description: 'The address that was judged, in its canonical form.' }),
    allowed: Type.Boolean(),
    reason: Type.String(),
  },
  { title: 'AccessDraftResult' },
);
export type AccessDraftResult = Static<typeof AccessDraftResult>;

export const AccessTestResult = Type.Object(
  { allowed: Type.Boolean(), reason: Type.String() },
  { title: 'AccessTestResult' },
);
export type AccessTestResult = Static<typeof AccessTestResult>;
