import { choice, ignoring, Port, RowId, Timestamp, Uuid } from './primitives.ts';
import { PROXY_HOST_FIELD_KINDS } from './proxy-host-values.ts';
import { type Static, Type } from './schema.ts';
import { wafSetupOfHost } from './waf-setup.ts';
import { Warning } from './warning.ts';

export { PROXY_HOST_DEFAULTS } from './proxy-host-values.ts';

/** What the server assigns. */
const ASSIGNED = ['id', 'uuid', 'applied', 'issue', 'warnings', 'created_at', 'updated_at'];

const ForwardScheme = choice(['http', 'https'], {
  description: 'How to speak to the origin. Default http.',
});

/** What a caller may say about a proxy host; every field but the three required ones has a default. */
const fields = {
  name: Type.String({ maxLength: 255, description: 'Free label. Default: empty; the first domain names the host.' }),
  domain: Type.String({
    minLength: 1,
    maxLength: 26_000,
    description:
      'Comma-separated DNS names, at most 100. A leading `*.` matches one label; an exact name wins over it. ' +
      'Stored lower-case, internationalised names as punycode.',
  }),
  forward_scheme: ForwardScheme,
  forward_host: Type.String({
    minLength: 1,
    maxLength: 253,
    description: 'Origin: host name, IPv4 or IPv6 address. Names are looked up in /etc/hosts and DNS and refreshed.',
  }),
  forward_port: Port,
  ssl_forced: Type.Boolean({
    description: 'Answer plain HTTP with a 308 to HTTPS; /.well-known/acme-challenge/ is left alone. Default false.',
  }),
  http2_support: Type.Boolean({ description: 'Offer HTTP/2 by ALPN under these names. Default true.' }),
  hsts_enabled: Type.Boolean({
    description:
      'Send Strict-Transport-Security (two years) on TLS answers: browsers then refuse plain HTTP. Default false.',
  }),
  hsts_subdomains: Type.Boolean({ description: 'Let HSTS include all subdomains. Default false.' }),
  block_exploits: Type.Boolean({
    description:
      'Refuse (403) the classic exploit probes in path and query before they reach the origin. Default true.',
  }),
  websocket_support: Type.Boolean({
    description: 'Pass WebSocket upgrades on; otherwise they get a 403. Default false.',
  }),
  enabled: Type.Boolean({ description: 'Serve this host. A disabled one answers like an unknown name. Default true.' }),
  enable_standard_headers: Type.Boolean({
    description:
      'Add X-Real-IP, X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Port to proxied requests. When false only ' +
      'WebSocket upgrades carry them. Default true.',
  }),
  forward_verify_tls: Type.Boolean({
    description:
      'Check the certificate of an https origin against the system authorities and its name. Default false: origins ' +
      'behind a proxy mostly have self-signed ones.',
  }),
  forward_http2: Type.Boolean({
    description:
      'Speak HTTP/2 to the origin (by prior knowledge on http, by ALPN on https); gRPC needs it. Default false.',
  }),
  waf_enabled: Type.Boolean({
    description: 'Let the web application firewall judge this host when the firewall is on. Default true.',
  }),
  waf_inspect_responses: Type.Boolean({
    description:
      'Let the firewall judge what this host answers as well: text answers are held until their first 1 MiB is inspected. ' +
      'Default false.',
  }),
  forward_reserved: Type.Boolean({
    description:
      "Let the origin be a link-local or cloud-metadata address, or one of Sallyport's own listeners (its management API " +
      'behind a host of its own). Default false: such an origin is refused.',
  }),
  auto_certificate: Type.Boolean({
    description:
      'Order a certificate for these names, and keep it, unless one that is there fits. Names that no public authority can ' +
      'know (.internal, .lan, …) get one of the internal authority. Default false.',
  }),
  ...wafSetupOfHost,
};

const ABOUT_REFERENCES = {
  remote_server_id: 'Link to a remote server. Default null.',
  certificate_id: 'Certificate to serve. Default null: the best match by name, else the self-signed default.',
  access_list_id: 'Access list that guards this host. Default null.',
} as const;

const id = (description: string) => Type.Union([RowId, Type.Null()], { description });
const idOrUuid = (description: string) =>
  Type.Union([RowId, Uuid, Type.Null()], { description: `${description} Takes the id or the uuid.` });

/** References as they are stored and answered with. */
const references = {
  remote_server_id: id(ABOUT_REFERENCES.remote_server_id),
  certificate_id: id(ABOUT_REFERENCES.certificate_id),
  access_list_id: id(ABOUT_REFERENCES.access_list_id),
};

/** References as a caller may give them. */
const givenReferences = {
  remote_server_id: idOrUuid(ABOUT_REFERENCES.remote_server_id),
  certificate_id: idOrUuid(ABOUT_REFERENCES.certificate_id),
  access_list_id: idOrUuid(ABOUT_REFERENCES.access_list_id),
};

type StoredFields = typeof fields & typeof references;

const FIELD_KINDS: Readonly<Record<keyof StoredFields, 'route' | 'protection'>> = PROXY_HOST_FIELD_KINDS;

/** Fields of a proxy host that are an administrator's to change. */
export const PROXY_HOST_PROTECTION = (Object.keys(FIELD_KINDS) as (keyof StoredFields)[]).filter(
  (field) => FIELD_KINDS[field] === 'protection',
);

const { domain, forward_host, forward_port, ...optional } = { ...fields, ...givenReferences };

export const NewProxyHost = Type.Object(
  {
    domain,
    forward_host,
    forward_port,
    ...Type.Partial(Type.Object(optional)).properties,
  },
  ignoring('NewProxyHost', ASSIGNED),
);
export type NewProxyHost = Static<typeof NewProxyHost>;

export const ProxyHostPatch = Type.Partial(
  Type.Object({ ...fields, ...givenReferences }),
  ignoring('ProxyHostPatch', ASSIGNED),
);
export type ProxyHostPatch = Static<typeof ProxyHostPatch>;

/** All that is stored of a proxy host. */
export const ProxyHostFields = Type.Object({ ...fields, ...references }, { title: 'ProxyHostFields' });
export type ProxyHostFields = Static<typeof ProxyHostFields>;

const ISSUE = Type.Union([Type.String(), Type.Null()], { description: 'Why it is not applied, in words.' });
const WARNINGS = Type.Array(Warning, { description: 'What it will not do although its fields say so. Mostly empty.' });

export const ProxyHost = Type.Object(
  {
    id: RowId,
    uuid: Uuid,
    ...fields,
    ...references,
    applied: Type.Boolean({
      description: 'The proxy serves exactly this, as read back from it. False while it lacks the last change.',
    }),
    issue: ISSUE,
    warnings: WARNINGS,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'ProxyHost' },
);
export type ProxyHost = Static<typeof ProxyHost>;

const counted = (description: string) => Type.Integer({ minimum: 0, description });

/** How the proxy hosts stand as a whole. */
export const ProxyHostsSummary = Type.Object(
  {
    total: counted('All there are.'),
    enabled: counted('Those that are to be served.'),
    served: counted('Of these, those that the proxy serves exactly as they are stored.'),
    with_certificate: counted('Those with a certificate of their own choice, or one that is ordered for them.'),
    with_issue: counted('Those that are not applied.'),
    with_warnings: counted('Those that are applied, but will not do all that their fields say.'),
    first_page: Type.Union([Type.String(), Type.Null()], {
      description: 'Address of the first host that is served by a name; null: there is none.',
    }),
    attention: Type.Array(
      Type.Object({ uuid: Uuid, domain: fields.domain, name: fields.name, issue: ISSUE, warnings: WARNINGS }),
      { description: 'The first 20 of those with an issue, then of those with warnings.' },
    ),
  },
  { title: 'ProxyHostsSummary' },
);
export type ProxyHostsSummary = Static<typeof ProxyHostsSummary>;

export const OriginToTest = Type.Object(
  {
    forward_scheme: Type.Optional(ForwardScheme),
    forward_host: fields.forward_host,
    forward_port: Port,
    forward_reserved: Type.Optional(fields.forward_reserved),
  },
  { title: 'OriginToTest' },
);
export type OriginToTest = Static<typeof OriginToTest>;

export const OriginTest = Type.Object(
  {
    reachable: Type.Boolean({ description: 'It takes connections.' }),
    address: Type.String({ description: 'address:port that was tried; IPv6 in brackets.' }),
    status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Status of its answer to `GET /` by HTTP/1.1; null when it gave none.',
    }),
    error: Type.Optional(Type.String({ description: 'Why there was no connection or no answer.' })),
    timestamp: Timestamp,
  },
  { title: 'OriginTest' },
);
export type OriginTest = Static<typeof OriginTest>;

export const BulkPatch = Type.Object(
  {
    uuids: Type.Array(Uuid, { minItems: 1, maxItems: 1_000, description: 'Proxy hosts to change.' }),
    patch: ProxyHostPatch,
  },
  { title: 'BulkPatch' },
);
export type BulkPatch = Static<typeof BulkPatch>;

export const BulkDelete = Type.Object(
  { uuids: Type.Array(Uuid, { minItems: 1, maxItems: 1_000 }) },
  { title: 'BulkDelete' },
);
export type BulkDelete = Static<typeof BulkDelete>;
