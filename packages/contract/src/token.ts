import { ignoring, RowId, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';
import { Role } from './user.ts';

/** What the server assigns. */
const ASSIGNED = ['id', 'owner', 'hint', 'last_used_at', 'created_at'];

export const NewApiToken = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255, description: 'What the token is for.' }),
    role: Type.Optional(Role),
    expires_at: Type.Optional(
      Type.Union([Timestamp, Type.Null()], { description: 'When it stops working. Default null: never.' }),
    ),
  },
  ignoring('NewApiToken', ASSIGNED),
);
export type NewApiToken = Static<typeof NewApiToken>;

const fields = {
  id: RowId,
  name: Type.String(),
  role: Role,
  owner: Type.String({ description: 'E-mail of the user it acts for; it never has more rights than they have.' }),
  hint: Type.String({ description: 'How the token begins, to recognise it.' }),
  expires_at: Type.Union([Timestamp, Type.Null()]),
  last_used_at: Type.Union([Timestamp, Type.Null()], { description: 'To the minute; null before the first use.' }),
  created_at: Timestamp,
};

export const ApiToken = Type.Object(fields, { title: 'ApiToken' });
export type ApiToken = Static<typeof ApiToken>;

export const CreatedApiToken = Type.Object(
  {
    ...fields,
    token: Type.String({ description: 'sp_…; shown only here, stored hashed.' }),
  },
  { title: 'CreatedApiToken' },
);
export type CreatedApiToken = Static<typeof CreatedApiToken>;
