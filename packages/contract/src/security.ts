import { choice, ignoring, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';
import { WAF_SETUP_DEFAULTS, wafSetup } from './waf-setup.ts';

/** What the server assigns. */
const ASSIGNED = ['updated_at'];

/** A rule, or one target of it, that is left out: what an operator adds when the firewall is wrong about a request. */
export const WafExclusion = Type.Object(
  {
    rule_id: Type.Union([Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), Type.String({ maxLength: 32 })], {
      description: 'Id of the rule, or a range "942100-942199". A range can not be limited to a host or path.',
    }),
    target: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'A SecLang target such as ARGS:comment. Absent: the whole rule is left out.',
      }),
    ),
    host_uuid: Type.Optional({ ...Uuid, description: 'Only for this proxy host. Absent: for all.' }),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_024,
        pattern: '^/',
        description: 'Only for paths that start with this, compared at segment borders. Absent: for all.',
      }),
    ),
    expires_at: Type.Optional({ ...Timestamp, description: 'From then on the rule counts again. Absent: never.' }),
    description: Type.Optional(Type.String({ maxLength: 1_024, description: 'Why. Default: empty.' })),
  },
  { title: 'WafExclusion' },
);
export type WafExclusion = Static<typeof WafExclusion>;

const networks = (what: string) =>
  Type.String({ maxLength: 65_536, description: `Comma-separated IP addresses or CIDR ranges: ${what}` });

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255, description: 'Label of the configuration. Default default.' }),
  enabled: Type.Boolean({
    description: 'Master switch of the suite; the same as the setting feature.guard.enabled. Default false.',
  }),
  admin_whitelist: networks('clients that no decision, rate limit, access list or rule ever stops. Default: none.'),
  crowdsec_mode: choice(['local', 'disabled'], {
    description: 'local: run CrowdSec on this machine. Default disabled.',
  }),
  waf_mode: choice(['monitor', 'block'], {
    description: 'monitor: report what would have been blocked. block: refuse it. Default block.',
  }),
  waf_rules_source: Type.String({
    maxLength: 255,
    description:
      'owasp (the installed Core Rule Set) or the name of a ruleset. Default owasp; a name that no ruleset has means ' +
      'owasp as well, and the answer warns about it.',
  }),
  webhook_url: Type.String({
    maxLength: 2_048,
    description: 'Gets notifications when the notification settings name no other. https only. Default: empty.',
  }),
  rate_limit_requests: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'Requests a client may make in a window. Default 100.',
  }),
  rate_limit_window_sec: Type.Integer({ minimum: 1, maximum: 86_400, description: 'Seconds of a window. Default 60.' }),
  rate_limit_burst: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    description: 'Requests in a window beyond rate_limit_requests before a client is refused. Default 20.',
  }),
  rate_limit_bypass_list: networks('clients that are not counted. Default: none.'),
  waf_paranoia_level: Type.Integer({
    minimum: 1,
    maximum: 4,
    description: 'Paranoia level of the Core Rule Set; higher finds more, and is wrong more often. Default 1.',
  }),
  waf_anomaly_threshold: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'Anomaly score from which a request is blocked; one critical rule scores 5. Default 5.',
  }),
  waf_fail_mode: choice(['closed', 'open'], {
    description:
      'What happens to requests that can not be judged: closed refuses them (503), open lets them pass. Default closed.',
  }),
  ...wafSetup,
  waf_exclusions: Type.Array(WafExclusion, { maxItems: 1_000, description: 'Rules that are left out. Default: none.' }),
};

export const SECURITY_DEFAULTS = {
  name: 'default',
  admin_whitelist: '',
  crowdsec_mode: 'disabled',
  waf_mode: 'block',
  waf_rules_source: 'owasp',
  webhook_url: '',
  rate_limit_requests: 100,
  rate_limit_window_sec: 60,
  rate_limit_burst: 20,
  rate_limit_bypass_list: '',
  waf_paranoia_level: 1,
  waf_anomaly_threshold: 5,
  waf_fail_mode: 'closed',
  ...WAF_SETUP_DEFAULTS,
  waf_exclusions: [] as readonly WafExclusion[],
} as const;

export const SecurityConfigPatch = Type.Partial(Type.Object(fields), ignoring('SecurityConfigPatch', ASSIGNED));
export type SecurityConfigPatch = Static<typeof SecurityConfigPatch>;

export const SecurityConfig = Type.Object({ ...fields, updated_at: Timestamp }, { title: 'SecurityConfig' });
export type SecurityConfig = Static<typeof SecurityConfig>;

export const SecurityConfigAnswer = Type.Object(
  {
    config: Type.Union([SecurityConfig, Type.Null()], { description: 'Null when nothing is configured yet.' }),
    warning: Type.Optional(Type.String({ description: 'Advice on what was configured.' })),
  },
  { title: 'SecurityConfigAnswer' },
);
export type SecurityConfigAnswer = Static<typeof SecurityConfigAnswer>;

const switchable = <T extends string>(...modes: T[]) =>
  Type.Object({ enabled: Type.Boolean({ description: "The module's switch." }), mode: choice(modes) });

export const SecurityStatus = Type.Object(
  {
    enabled: Type.Boolean({
      description: 'Master switch. While it is off no module acts, whatever its own switch says.',
    }),
    guard: Type.Object({ enabled: Type.Boolean({ description: 'The same as enabled.' }) }),
    waf: switchable('monitor', 'block'),
    crowdsec: Type.Object({
      ...switchable('local', 'disabled').properties,
      running: Type.Boolean({ description: 'The CrowdSec process runs on this machine.' }),
    }),
    acl: switchable('enabled', 'disabled'),
    rate_limit: switchable('enabled', 'disabled'),
    applied: Type.Boolean({ description: 'The proxy and its guards enforce exactly this.' }),
    issue: Type.Union([Type.String(), Type.Null()], {
      description: 'Why they do not, or what else is wrong with them, in words.',
    }),
    revision: Type.Integer({ description: 'Of the guard configuration; grows with every change of it.' }),
  },
  { title: 'SecurityStatus' },
);
export type SecurityStatus = Static<typeof SecurityStatus>;

const token = Type.String({ maxLength: 256, description: 'From POST /security/breakglass/generate.' });
export const BreakGlass = Type.Object({ break_glass_token: Type.Optional(token) }, { title: 'BreakGlass' });
export type BreakGlass = Static<typeof BreakGlass>;

export const BreakGlassToken = Type.Object(
  {
    token: Type.String({ description: '64 hexadecimal digits. Shown only here; generating another one voids it.' }),
  },
  { title: 'BreakGlassToken' },
);
export type BreakGlassToken = Static<typeof BreakGlassToken>;
