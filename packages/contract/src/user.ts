import { choice, ignoring, RowId, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** What the server assigns. */
const ASSIGNED = ['id', 'totp_enabled', 'last_login', 'created_at', 'updated_at'];

/** Passwords have at least this many characters (contract.md, Authentication). */
export const PASSWORD_MIN_LENGTH = 10;
/** Longer ones are refused before they reach the hash, whose cost grows with them. */
const PASSWORD_MAX_LENGTH = 1_024;

export const Email = Type.String({
  minLength: 1,
  maxLength: 254,
  description: 'E-mail address; compared and stored in lower case, an internationalised domain as punycode.',
});

/** A password that is being chosen. */
export const NewPassword = Type.String({
  minLength: PASSWORD_MIN_LENGTH,
  maxLength: PASSWORD_MAX_LENGTH,
  description: 'At least 10 characters. Stored as argon2id only.',
});

/** A password that is only compared, so that its rules don't tell anything about it. */
export const GivenPassword = Type.String({ minLength: 1, maxLength: PASSWORD_MAX_LENGTH });

export const UserName = Type.String({ maxLength: 255, description: 'Name to show. Default: empty.' });

export const Role = choice(['admin', 'user'], {
  description: 'admin has full control; user manages proxy hosts.',
});
export type Role = Static<typeof Role>;

export const UserStatus = choice(['pending', 'active', 'disabled'], {
  description: 'pending: invited, has not accepted yet. disabled: can not sign in, and its tokens are void.',
});
export type UserStatus = Static<typeof UserStatus>;

export const User = Type.Object(
  {
    id: RowId,
    email: Type.String(),
    name: Type.String(),
    role: Role,
    status: UserStatus,
    totp_enabled: Type.Boolean({ description: 'A code from an authenticator app is asked for at sign-in.' }),
    last_login: Type.Union([Timestamp, Type.Null()], { description: 'Null before the first sign-in.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'User' },
);
export type User = Static<typeof User>;

export const NewUser = Type.Object(
  {
    email: Email,
    password: NewPassword,
    name: Type.Optional(UserName),
    role: Type.Optional(Role),
  },
  ignoring('NewUser', ASSIGNED),
);
export type NewUser = Static<typeof NewUser>;

export const UserPatch = Type.Partial(
  Type.Object({ email: Email, name: UserName, role: Role, status: UserStatus, password: NewPassword }),
  ignoring('UserPatch', ASSIGNED),
);
export type UserPatch = Static<typeof UserPatch>;
