interface Schema {
  $ref?: string;
  type?: string;
  title?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  minItems?: number;
  format?: string;
}

const MOMENT = '2026-11-20T12:00:00.000Z';
const UUID = '3f0c6a52-8d1e-4b7a-9c55-0a9b6f2d7e41';

/** What fields hold in examples, by name; addresses are those that are set aside for documentation (RFC 5737). */
const FIELDS: Readonly<Record<string, unknown>> = {
  domain: 'app.example.com',
  domains: 'app.example.com,*.example.org',
  forward_host: '192.0.2.10',
  forward_port: 3000,
  host: '192.0.2.10',
  port: 8080,
  name: 'app',
  email: 'ann@example.com',
  owner: 'ann@example.com',
  actor: 'ann@example.com',
  password: 'correct horse battery',
  current_password: 'correct horse battery',
  new_password: 'staple horse battery',
  ip: '198.51.100.7',
  address: '192.0.2.10:8080',
  cidr: '198.51.100.0/24',
  admin_whitelist: '198.51.100.7',
  rate_limit_bypass_list: '',
  countries: [],
  details: 'tried to sign in 400 times',
  duration: '4h',
  source: 'manual',
  source_url: '',
  webhook_url: 'https://hooks.example.com/sallyport',
  webhook_template: '',
  email_recipients: '',
  min_log_level: 'warn',
  url: 'https://app.example.com',
  normalized: 'https://app.example.com',
  preview_url: 'https://proxy.example.com/accept-invite?token=SAMPLE_TOKEN_PREVIEW',
  base_url: 'https://proxy.example.com',
  disabled_modules: 'feature.guard.enabled',
  listener: '127.0.0.1:2020',
  invite_url: 'https://proxy.example.com/accept-invite?token=…',
  key: 'audit.retention_days',
  value: '90',
  rule_id: 942100,
  target: 'ARGS:comment',
  path: '/comments',
  reference: 'C0A80001:9C42_7F000001:01BB_6740F1A0_0001',
  method: 'POST',
  request_uri: '/comments?id=1',
  uri: '/comments?id=1',
  user_agent: 'curl/8.14.1',
  reason: 'anomaly score 5',
  message: 'Request blocked by the web application firewall',
  error: '',
  warning: 'only advice',
  event_type: 'waf_block',
  severity: 'warn',
  action: 'block',
  content: 'SecRule ARGS "@contains evil" "id:100001,phase:2,deny"',
  waf_rules_source: 'owasp',
  waf_allowed_methods: 'GET,HEAD,POST,OPTIONS,PUT,PATCH,DELETE',
  waf_allowed_content_types: 'application/json,application/x-www-form-urlencoded',
  waf_body_limit: 13_107_200,
  resource: `proxy-hosts/${UUID}`,
  token: 'sp_…',
  hint: 'sp_4fQx1',
  totp_code: '123456',
  code: '123456',
  secret: 'JBSWY3DPEHPK3PXP',
  otpauth_url: 'otpauth://totp/Sallyport:ann@example.com?secret=JBSWY3DPEHPK3PXP',
  recovery_codes: ['abcd-efgh-jkmn'],
  status: undefined,
  enabled: true,
  applied: true,
  allowed: true,
  valid: true,
  reachable: true,
  http2_support: true,
  block_exploits: true,
  enable_standard_headers: true,
  waf_enabled: true,
  used_by: [],
  used_by_total: 0,
  warnings: [],
  exclusions: [],
  waf_exclusions: [],
  issue: null,
  description: '',
};

/** What a body that requires nothing says in its example. */
const BODIES: Readonly<Record<string, Record<string, unknown>>> = {
  ProxyHostPatch: { websocket_support: true },
  RemoteServerPatch: { enabled: false },
  AccessListPatch: { rules: [{ cidr: '198.51.100.0/24', description: 'office' }] },
  UserPatch: { role: 'admin' },
  SecurityConfigPatch: { waf_mode: 'monitor', admin_whitelist: '198.51.100.7' },
  NotificationSettingsPatch: { enabled: true, webhook_url: 'https://hooks.example.com/sallyport' },
  BreakGlass: {},
  MeantRoot: { sha256: Array.from({ length: 32 }, () => 'A1').join(':') },
  NewRuleset: { name: 'house', content: FIELDS.content },
  ConfigDocument: {
    sallyport: 1,
    proxy_hosts: [{ domain: 'app.example.com', forward_host: '192.0.2.10', forward_port: 3000 }],
  },
  MailTestRequest: { to: 'ann@example.com' },
};

const stringOf = ({ format }: Schema): string => {
  if (format === 'date-time') return MOMENT;
  return format === 'uuid' ? UUID : 'text';
};

/** Makes examples of schemas whose references are all in `schemas`. */
export const createExamples = (schemas: Readonly<Record<string, unknown>>) => {
  const fits = (value: unknown, schema: Schema): boolean => {
    if (schema.anyOf) return schema.anyOf.some((option) => fits(value, option));
    if (schema.enum) return schema.enum.includes(value);
    if (schema.const !== undefined) return schema.const === value;
    if (value === null) return schema.type === 'null';
    if (Array.isArray(value)) return schema.type === 'array' && value.length >= (schema.minItems ?? 0);
    if (schema.format !== undefined) return value === stringOf(schema);
    return typeof value === (schema.type === 'integer' ? 'number' : schema.type);
  };

  const exampleOf = (given: Schema, name = '', onlyRequired = false): unknown => {
    const schema = resolve(given);
    const known = FIELDS[name];
    if (known !== undefined && fits(known, schema)) return known;
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    if (schema.anyOf) {
      return schema.anyOf.some(({ type }) => type === 'null') ? null : exampleOf(schema.anyOf[0] ?? {}, name);
    }
    switch (schema.type) {
      case 'object': {
        if (onlyRequired && schema.title !== undefined && BODIES[schema.title]) return BODIES[schema.title];
        const entries = Object.entries(schema.properties ?? {}).filter(
          ([field]) => !onlyRequired || schema.required?.includes(field),
        );
        return Object.fromEntries(entries.map(([field, inner]) => [field, exampleOf(inner, field, onlyRequired)]));
      }
      case 'array':
        return [exampleOf(schema.items ?? {}, '', onlyRequired)];
      case 'integer':
      case 'number':
        return Math.max(schema.minimum ?? 1, 1);
      case 'boolean':
        return false;
      case 'string':
        return stringOf(schema);
      default:
        return null;
    }
  };

  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1) ?? ''] as Schema);

  return {
    /** An answer with every field. */
    answer: (schema: unknown): unknown => exampleOf(schema as Schema),
    /** A body with what it takes and no more. */
    body: (schema: unknown): unknown => exampleOf(schema as Schema, '', true),
  };
};
