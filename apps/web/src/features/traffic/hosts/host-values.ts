import type { PROXY_HOST_DEFAULTS, ProxyHost, ProxyHostFields } from '@sallyport/contract';

/** What a new host has when nothing is said: as the API has it, which the type sees to. */
export const DEFAULTS: typeof PROXY_HOST_DEFAULTS = {
  name: '',
  forward_scheme: 'http',
  ssl_forced: false,
  http2_support: true,
  hsts_enabled: false,
  hsts_subdomains: false,
  block_exploits: true,
  websocket_support: false,
  enabled: true,
  enable_standard_headers: true,
  forward_verify_tls: false,
  forward_http2: false,
  forward_reserved: false,
  auto_certificate: false,
  waf_enabled: true,
  waf_inspect_responses: false,
  waf_allowed_methods: null,
  waf_allowed_content_types: null,
  waf_body_limit: null,
  remote_server_id: null,
  certificate_id: null,
  access_list_id: null,
};

/** A host as it is typed: a port may be half typed, and what is empty is null. */
export type TypedHost = Omit<ProxyHostFields, 'forward_port'> & { forward_port: number | string };

export const NEW_HOST: TypedHost = { ...DEFAULTS, domain: '', forward_host: '', forward_port: '' };

export type SwitchField = {
  [Field in keyof ProxyHostFields]: ProxyHostFields[Field] extends boolean ? Field : never;
}[keyof ProxyHostFields];

/** Fields that an administrator alone may change. */
export const PROTECTION: ReadonlySet<string> = new Set([
  'block_exploits',
  'forward_reserved',
  'waf_enabled',
  'waf_inspect_responses',
  'waf_allowed_methods',
  'waf_allowed_content_types',
  'waf_body_limit',
  'access_list_id',
]);

const FIELDS = Object.keys(NEW_HOST) as (keyof TypedHost)[];

/** What of a host can be typed. */
export const typedOf = (host: ProxyHost): TypedHost =>
  Object.fromEntries(FIELDS.map((field) => [field, host[field]])) as unknown as TypedHost;

/** The groups of a host's form, and the fields in each. */
export const GROUPS = {
  tls: ['ssl_forced', 'hsts_enabled', 'hsts_subdomains', 'http2_support'],
  protection: ['access_list_id', 'block_exploits'],
  firewall: [
    'waf_enabled',
    'waf_inspect_responses',
    'waf_allowed_methods',
    'waf_allowed_content_types',
    'waf_body_limit',
  ],
  headers: ['websocket_support', 'enable_standard_headers'],
  advanced: ['name', 'enabled', 'remote_server_id', 'forward_verify_tls', 'forward_http2', 'forward_reserved'],
} as const satisfies Record<string, readonly (keyof typeof DEFAULTS)[]>;
export type GroupName = keyof typeof GROUPS;
