import { BlockMatch } from './block.ts';
import { LogLevel, LogSource } from './log-entry.ts';
import { choice, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';
import { VERDICT_SECONDS_BOUNDS } from './values.ts';

const text = (maxLength: number) => Type.String({ maxLength });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** A request that a guard refused, or would have refused in block mode. */
export const GuardBlock = Type.Object({
  type: Type.Literal('block'),
  reference: Type.String({ minLength: 1, maxLength: 128 }),
  timestamp: Timestamp,
  layer: choice(['acl', 'waf', 'guard']),
  monitored: Type.Boolean(),
  status: Type.Integer({ minimum: 100, maximum: 599 }),
  reason: text(1_024),
  ip: text(64),
  host: text(255),
  host_id: Type.Integer({ minimum: 0 }),
  method: text(64),
  request_uri: text(4_096),
  user_agent: text(1_024),
  rule_id: Type.Union([count, Type.Null()]),
  matches: Type.Array(BlockMatch, { maxItems: 100 }),
});
export type GuardBlock = Static<typeof GuardBlock>;

/** Something else worth telling, e.g. that a rule set was swapped. */
export const GuardLog = Type.Object({
  type: Type.Literal('log'),
  timestamp: Timestamp,
  level: LogLevel,
  source: LogSource,
  message: text(2_048),
  fields: Type.Record(Type.String({ maxLength: 64 }), Type.Unknown()),
});

/** What a worker counted since it started; `instance` is new with every start, so nothing is counted twice. */
export const GuardCounters = Type.Object({
  type: Type.Literal('counters'),
  instance: Type.String({ minLength: 8, maxLength: 64 }),
  worker: Type.Integer({ minimum: 0, maximum: 1_023 }),
  revision: count,
  requests: count,
  blocked: count,
  monitored: count,
  access_denied: count,
  unjudged: count,
  dropped_messages: count,
  verdict_seconds: Type.Object({
    sum: Type.Number({ minimum: 0 }),
    buckets: Type.Array(count, {
      minItems: VERDICT_SECONDS_BOUNDS.length + 1,
      maxItems: VERDICT_SECONDS_BOUNDS.length + 1,
      description: 'Verdicts by duration, not cumulative; bounds as VERDICT_SECONDS_BOUNDS, then the rest.',
    }),
  }),
});
export type GuardCounters = Static<typeof GuardCounters>;

/** One line of JSON on `<dataDir>/run/log.sock`, from a guard to the server. */
export const GuardMessage = Type.Union([GuardBlock, GuardLog, GuardCounters]);
export type GuardMessage = Static<typeof GuardMessage>;
