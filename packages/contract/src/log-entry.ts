import { choice, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** From least to most severe (spec, Log entry). */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export const LogLevel = choice(LOG_LEVELS);
export type LogLevel = Static<typeof LogLevel>;

export const LOG_SOURCES = ['guard', 'waf', 'crowdsec', 'acl'] as const;
export const LogSource = choice(LOG_SOURCES);
export type LogSource = Static<typeof LogSource>;

/** Tells whether `level` is at least as severe as `least`. */
export const isAtLeast = (level: LogLevel, least: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);

export const LogEntry = Type.Object(
  {
    level: LogLevel,
    message: Type.String(),
    timestamp: Timestamp,
    source: LogSource,
    fields: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Depends on the event; ip, host, reference, rule_id, request_uri and severity where they apply.',
    }),
  },
  { title: 'LogEntry' },
);
export type LogEntry = Static<typeof LogEntry>;

export const LiveLogQuery = Type.Object(
  {
    level: Type.Optional(choice(LOG_LEVELS, { description: 'Only entries at or above this level.' })),
    source: Type.Optional(choice(LOG_SOURCES, { description: 'Only entries of this source.' })),
    backlog: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 500, description: 'How many earlier entries to send first. Default 0.' }),
    ),
  },
  { title: 'LiveLogQuery' },
);
export type LiveLogQuery = Static<typeof LiveLogQuery>;
