import type { ProxyHost, ProxyHostFields } from '@sallyport/contract';
import { PROXY_HOST_DEFAULTS, PROXY_HOST_FIELD_KINDS } from '@sallyport/contract/values';

/** A host as it is typed: a port may be half typed, and what is empty is null. */
export type TypedHost = Omit<ProxyHostFields, 'forward_port'> & { forward_port: number | string };

export const NEW_HOST: TypedHost = { ...PROXY_HOST_DEFAULTS, domain: '', forward_host: '', forward_port: '' };

export type SwitchField = {
  [Field in keyof ProxyHostFields]: ProxyHostFields[Field] extends boolean ? Field : never;
}[keyof ProxyHostFields];

/** Fields that an administrator alone may change. */
export const PROTECTION: ReadonlySet<string> = new Set(
  Object.entries(PROXY_HOST_FIELD_KINDS).flatMap(([field, kind]) => (kind === 'protection' ? [field] : [])),
);

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
} as const satisfies Record<string, readonly (keyof typeof PROXY_HOST_DEFAULTS)[]>;
export type GroupName = keyof typeof GROUPS;
