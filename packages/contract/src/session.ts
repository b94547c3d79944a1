import { Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';
import { Email, GivenPassword, NewPassword, User, UserName } from './user.ts';

export const SetupState = Type.Object(
  {
    setup_required: Type.Boolean({ description: 'True until the first administrator exists.' }),
  },
  { title: 'SetupState' },
);
export type SetupState = Static<typeof SetupState>;

export const Setup = Type.Object(
  {
    email: Email,
    password: NewPassword,
    name: Type.Optional(UserName),
    setup_token: Type.Optional(
      Type.String({ maxLength: 256, description: 'Printed at start-up; needed from anywhere but the local host.' }),
    ),
  },
  { title: 'Setup' },
);
export type Setup = Static<typeof Setup>;

const TotpCode = Type.String({ maxLength: 16, description: 'Six digits of the authenticator app (RFC 6238).' });
const RecoveryCode = Type.String({ maxLength: 64, description: 'One of the recovery codes, in place of totp_code.' });

export const Login = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 254 }),
    password: GivenPassword,
    totp_code: Type.Optional(TotpCode),
    recovery_code: Type.Optional(RecoveryCode),
  },
  { title: 'Login' },
);
export type Login = Static<typeof Login>;

export const SignedIn = Type.Object(
  {
    token: Type.String({ description: 'Bearer token (JWT); the cookie set along with it holds the same.' }),
    expires_at: Timestamp,
    user: User,
  },
  { title: 'SignedIn' },
);
export type SignedIn = Static<typeof SignedIn>;

export const Me = Type.Object(
  {
    user: User,
    totp_required: Type.Boolean({
      description:
        'True while an administrator demands two-factor sign-in and this user has not set it up: until then everything else answers 403.',
    }),
  },
  { title: 'Me' },
);
export type Me = Static<typeof Me>;

export const PasswordChange = Type.Object(
  { current_password: GivenPassword, new_password: NewPassword },
  { title: 'PasswordChange' },
);
export type PasswordChange = Static<typeof PasswordChange>;

export const Session = Type.Object(
  {
    id: Uuid,
    created_at: Timestamp,
    last_seen_at: Timestamp,
    expires_at: Timestamp,
    ip: Type.String(),
    user_agent: Type.String(),
    is_current: Type.Boolean({ description: 'The session this very request belongs to.' }),
  },
  { title: 'Session' },
);
export type Session = Static<typeof Session>;

export const PasswordProof = Type.Object({ password: GivenPassword }, { title: 'PasswordProof' });
export type PasswordProof = Static<typeof PasswordProof>;

export const TotpSecret = Type.Object(
  {
    secret: Type.String({ description: 'Base32, for typing it in. Shown only here.' }),
    otpauth_url: Type.String({ description: 'The same as a link or QR code.' }),
  },
  { title: 'TotpSecret' },
);
export type TotpSecret = Static<typeof TotpSecret>;

export const TotpConfirmation = Type.Object({ code: TotpCode }, { title: 'TotpConfirmation' });
export type TotpConfirmation = Static<typeof TotpConfirmation>;

export const RecoveryCodes = Type.Object(
  {
    recovery_codes: Type.Array(Type.String(), { description: 'Each works once. Shown only here.' }),
  },
  { title: 'RecoveryCodes' },
);
export type RecoveryCodes = Static<typeof RecoveryCodes>;
