import { choice, ignoring, ListQuery, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';
import { Warning } from './warning.ts';

/** What the server assigns. */
const ASSIGNED = ['id', 'uuid', 'source', 'warnings', 'created_at'];

const Network = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IP address or CIDR range; stored canonically (host bits cleared, RFC 5952).',
});
const Action = choice(['block'], { description: 'block: requests are refused with 403.' });
const Details = Type.String({ maxLength: 4_096, description: 'Free text. Default: empty.' });

export const NewDecision = Type.Object(
  {
    ip: Network,
    action: Action,
    details: Type.Optional(Details),
    duration: Type.Optional(
      Type.String({
        maxLength: 32,
        description: 'How long it counts: 90s, 15m, 4h, 7d, 1h30m. Absent: until deleted.',
      }),
    ),
  },
  ignoring('NewDecision', ASSIGNED),
);
export type NewDecision = Static<typeof NewDecision>;

export const Decision = Type.Object(
  {
    id: RowId,
    uuid: Uuid,
    ip: Type.String(),
    action: Action,
    details: Details,
    source: Type.String({ description: 'Who decided: manual, crowdsec, …' }),
    warnings: Type.Array(Warning, { description: 'Why the decision is not enforced, while it is not.' }),
    created_at: Timestamp,
    expires_at: Type.Union([Timestamp, Type.Null()], { description: 'When it ends by itself; null: never.' }),
  },
  { title: 'Decision' },
);
export type Decision = Static<typeof Decision>;

export const DecisionQuery = Type.Object(
  {
    ...ListQuery.properties,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'Newest decisions first. Default 50.' }),
    ),
    source: Type.Optional(Type.String({ maxLength: 64, description: 'Only of this source.' })),
  },
  { title: 'DecisionQuery' },
);
export type DecisionQuery = Static<typeof DecisionQuery>;
