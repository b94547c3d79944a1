import { choice, ListQuery, RowId, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';
import { WafExclusion } from './security.ts';

/** What refused a request; `guard` means that it could not be judged. */
export const BLOCK_LAYERS = ['decision', 'rate_limit', 'exploit', 'websocket', 'acl', 'waf', 'guard'] as const;
export const BlockLayer = choice(BLOCK_LAYERS);
export type BlockLayer = Static<typeof BlockLayer>;

/** A rule that matched, with the value masked where it may be a secret. */
export const BlockMatch = Type.Object(
  {
    rule_id: Type.Integer({ minimum: 0 }),
    message: Type.String({ maxLength: 1_024 }),
    variable: Type.String({ maxLength: 512, description: 'Target that matched, e.g. ARGS:comment.' }),
    value: Type.String({ maxLength: 512, description: 'What matched there, shortened and masked.' }),
    severity: Type.Union([Type.Integer({ minimum: 0, maximum: 7 }), Type.Null()], {
      description: '0 emergency … 7 debug.',
    }),
  },
  { title: 'BlockMatch' },
);
export type BlockMatch = Static<typeof BlockMatch>;

const summary = {
  reference: Type.String({ description: 'As on the page and in the header that the client got.' }),
  timestamp: Timestamp,
  layer: BlockLayer,
  monitored: Type.Boolean({ description: 'True when it was only reported (waf_mode monitor).' }),
  status: Type.Integer({ description: 'HTTP status of the answer.' }),
  reason: Type.String(),
  ip: Type.String({ description: 'Client address.' }),
  host: Type.String({ description: 'Name that was asked for.' }),
  host_uuid: Type.Union([Type.String(), Type.Null()], {
    description: 'Proxy host; null when it is gone or unknown.',
  }),
  method: Type.String(),
  request_uri: Type.String(),
  user_agent: Type.String({ description: 'Empty: the request had none.' }),
  rule_id: Type.Union([RowId, Type.Null()], {
    description: 'Rule that decided, or the worst of those that one only counted.',
  }),
  variable: Type.Union([Type.String(), Type.Null()]),
  value: Type.Union([Type.String(), Type.Null()]),
};

/** A refused request as the list shows it; the look-up by its reference tells the rest. */
export const BlockSummary = Type.Object(summary, { title: 'BlockSummary' });
export type BlockSummary = Static<typeof BlockSummary>;

export const Block = Type.Object(
  {
    ...summary,
    matches: Type.Array(BlockMatch, { description: 'Every rule that matched.' }),
    exclusions: Type.Array(WafExclusion, {
      description:
        'What POST /security/exclusions takes to let such requests pass, one for each rule and target that counted; ' +
        'empty when no rule decided.',
    }),
  },
  { title: 'Block' },
);
export type Block = Static<typeof Block>;

export const BlockQuery = Type.Object(
  {
    ...ListQuery.properties,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Newest first. Default 50.' })),
    layer: Type.Optional(choice(BLOCK_LAYERS, { description: 'Only what this layer refused.' })),
    host: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Only requests for this name, in any case.' }),
    ),
    ip: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Only requests of this client address.' }),
    ),
    country: Type.Optional(
      Type.String({
        pattern: '^(?:[A-Za-z]{2}|unknown)$',
        description:
          'Only requests of clients in this country (ISO 3166-1, in any case), as it was known when they were refused; unknown: those of ' +
          'which it was not.',
        examples: ['DE'],
      }),
    ),
  },
  { title: 'BlockQuery' },
);
export type BlockQuery = Static<typeof BlockQuery>;

export const BlockStatisticsQuery = Type.Object(
  {
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'From this moment on. Default: a day before `until`.' }),
    ),
    until: Type.Optional(
      Type.String({ format: 'date-time', description: 'Up to this moment, without it. Default now.' }),
    ),
    parts: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, description: 'Equal parts of that time in `over_time`. Default 48.' }),
    ),
  },
  { title: 'BlockStatisticsQuery' },
);
export type BlockStatisticsQuery = Static<typeof BlockStatisticsQuery>;

const counted = {
  count: Type.Integer({ minimum: 0, description: 'Requests that were refused.' }),
  monitored: Type.Integer({
    minimum: 0,
    description: 'Requests that were only reported (waf_mode monitor); they are not in `count`.',
  }),
};
/** An ISO 3166-1 code. */
const country = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** What is counted of the refusals that are kept. */
export const BlockStatistics = Type.Object(
  {
    since: Timestamp,
    until: Timestamp,
    complete_since: Type.String({
      format: 'date-time',
      description:
        'From here on none is missing: later than `since` when older ones were dropped to make room ' +
        '(security.block_log.entries); `until` when none is kept at all.',
    }),
    total: Type.Object(counted),
    over_time: Type.Array(Type.Object({ at: Timestamp, ...counted }), {
      description: 'One for each part of the time, by its beginning, oldest first.',
    }),
    hosts: Type.Array(Type.Object({ host: Type.String(), ...counted }), {
      description: 'The ten names that were asked for most, in lower case. Like the others by both counts together.',
    }),
    rules: Type.Array(
      Type.Object({
        rule_id: Type.Union([RowId, Type.Null()], { description: 'Null: no rule decided, but the layer itself.' }),
        layer: BlockLayer,
        message: Type.Optional(Type.String({ description: 'What the rule says of itself.' })),
        ...counted,
      }),
      { description: 'The ten most frequent rules, and layers that need none.' },
    ),
    addresses: Type.Array(
      Type.Object({
        ip: Type.String(),
        country: country('ISO 3166-1 code; null: not known, or there is no country database.'),
        ...counted,
      }),
      { description: 'The ten most frequent clients.' },
    ),
    countries: Type.Union(
      [Type.Array(Type.Object({ country: country('ISO 3166-1 code; null: not known.'), ...counted })), Type.Null()],
      { description: 'The ten most frequent countries of clients; null: there is no country database.' },
    ),
  },
  { title: 'BlockStatistics' },
);
export type BlockStatistics = Static<typeof BlockStatistics>;
