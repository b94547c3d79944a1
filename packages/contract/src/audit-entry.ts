import { ListQuery, RowId, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

export const AuditEntry = Type.Object(
  {
    id: RowId,
    action: Type.String({ description: 'Resource and verb, e.g. proxy_host.update or auth.login_failed.' }),
    actor: Type.String({ description: 'E-mail of the user, `local`, `anonymous` or the name of a program.' }),
    ip: Type.String(),
    user_agent: Type.String(),
    method: Type.String(),
    path: Type.String(),
    resource: Type.String({ description: 'Path of what was changed, below the API root.' }),
    details: Type.Object(
      {
        before: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        after: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      },
      { description: 'Fields that the change made different; secrets are masked.' },
    ),
    timestamp: Timestamp,
  },
  { title: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditQuery = Type.Object(
  {
    ...ListQuery.properties,
    start: Type.Optional(Type.String({ maxLength: 64, description: 'Only entries from this moment on.' })),
    end: Type.Optional(Type.String({ maxLength: 64, description: 'Only entries up to this moment.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'Newest entries first. Default 100.' }),
    ),
    before_id: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Continues a list.' })),
    action: Type.Optional(Type.String({ maxLength: 128, description: 'Only this action.' })),
  },
  { title: 'AuditQuery' },
);
export type AuditQuery = Static<typeof AuditQuery>;

export const AuditVerification = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether no entry was changed, removed or added.' }),
    entries: Type.Integer({ minimum: 0, description: 'How many entries were found as they were written.' }),
    id: Type.Optional(RowId),
    reason: Type.Optional(Type.String({ description: 'What is wrong with the first entry that does not fit, `id`.' })),
  },
  { title: 'AuditVerification' },
);
export type AuditVerification = Static<typeof AuditVerification>;
