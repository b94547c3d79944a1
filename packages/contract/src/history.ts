import { ListQuery, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';

export const FieldChange = Type.Object({
  field: Type.String(),
  before: Type.Unknown({ description: 'Null when there was none. Secrets are `***`, long texts are cut.' }),
  after: Type.Unknown({ description: 'Null when there is none any more.' }),
});

export const HistoryEntry = Type.Object(
  {
    id: RowId,
    resource: Type.String({ description: 'Path of what was changed, below the API root.' }),
    name: Type.Union([Type.String(), Type.Null()], {
      description: 'What that is called now: its name, its domains or its address; null when it is gone or has none.',
    }),
    action: Type.String({ description: 'Resource and verb, e.g. proxy_host.update, as in the audit trail.' }),
    actor: Type.String({
      description:
        'E-mail of the user, `local`, `anonymous` or the name of a program; others than oneself by name only for administrators.',
    }),
    created_at: Timestamp,
    batch: { ...Uuid, description: 'The same for all changes that one request made.' },
    batch_size: Type.Integer({
      minimum: 1,
      description: 'How many changes that request made, on whatever page they are.',
    }),
    reverts: Type.Union([RowId, Type.Null()], { description: 'The change that this one took back.' }),
    changes: Type.Array(FieldChange),
  },
  { title: 'HistoryEntry' },
);
export type HistoryEntry = Static<typeof HistoryEntry>;

/** Without `per_page` a hundred; newest first unless it is sorted. */
export const ResourceHistoryQuery = Type.Object(ListQuery.properties, { title: 'ResourceHistoryQuery' });
export type ResourceHistoryQuery = Static<typeof ResourceHistoryQuery>;

export const Confirmation = Type.Object(
  {
    id: { ...Uuid, description: 'The batch of its changes in the history.' },
    actor: Type.String({ description: 'Who made the change, and has to confirm it.' }),
    created_at: Timestamp,
    reverts_at: { ...Timestamp, description: 'When it goes back unless it is confirmed.' },
    resources: Type.Array(Type.String({ description: 'What was changed, as in the history.' })),
    attempts: Type.Integer({ description: 'How often it was tried in vain to take it back.' }),
    issue: Type.Union([Type.String(), Type.Null()], { description: 'Why that failed; it is tried again.' }),
  },
  { title: 'Confirmation' },
);
export type Confirmation = Static<typeof Confirmation>;

export const HistoryQuery = Type.Object(
  {
    ...ResourceHistoryQuery.properties,
    resource: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'Only changes of this object (`proxy-hosts/<uuid>`), or of all of its kind (`proxy-hosts`).',
      }),
    ),
  },
  { title: 'HistoryQuery' },
);
export type HistoryQuery = Static<typeof HistoryQuery>;
