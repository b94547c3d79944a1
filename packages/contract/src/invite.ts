import { Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';
import { Email, NewPassword, Role, User, UserName } from './user.ts';

/** Stands where a real token would in the preview of an invitation link. */
export const SAMPLE_INVITE_TOKEN = 'SAMPLE_TOKEN_PREVIEW';

export const NewInvite = Type.Object(
  { email: Email, name: Type.Optional(UserName), role: Type.Optional(Role) },
  { title: 'NewInvite' },
);
export type NewInvite = Static<typeof NewInvite>;

const link = {
  email_sent: Type.Boolean({ description: 'False when mail is not configured or could not be delivered.' }),
  invite_url: Type.String({ description: 'Link to accept the invitation; hand it over when no mail was sent.' }),
  expires_at: Timestamp,
};

export const Invite = Type.Object({ user: User, ...link }, { title: 'Invite' });
export type Invite = Static<typeof Invite>;

export const ResentInvite = Type.Object(link, { title: 'ResentInvite' });
export type ResentInvite = Static<typeof ResentInvite>;

const InviteToken = Type.String({ minLength: 1, maxLength: 256 });

export const InviteQuery = Type.Object({ token: InviteToken }, { title: 'InviteQuery' });

export const InviteCheck = Type.Object({ valid: Type.Literal(true), email: Type.String() }, { title: 'InviteCheck' });
export type InviteCheck = Static<typeof InviteCheck>;

export const InviteAcceptance = Type.Object(
  {
    token: InviteToken,
    name: Type.Optional(UserName),
    password: NewPassword,
  },
  { title: 'InviteAcceptance' },
);
export type InviteAcceptance = Static<typeof InviteAcceptance>;

export const AcceptedInvite = Type.Object(
  { valid: Type.Literal(true), email: Type.String(), user: User },
  { title: 'AcceptedInvite' },
);
export type AcceptedInvite = Static<typeof AcceptedInvite>;

export const InvitePreviewRequest = Type.Object({ email: Email }, { title: 'InvitePreviewRequest' });

export const InvitePreview = Type.Object(
  {
    preview_url: Type.String(),
    base_url: Type.String({ description: 'The setting app.public_url, else the own local address of the server.' }),
    is_configured: Type.Boolean({ description: 'Whether app.public_url is set.' }),
    email: Type.String(),
    warning: Type.Boolean(),
    warning_message: Type.String({ description: 'Empty when there is nothing to warn about.' }),
  },
  { title: 'InvitePreview' },
);
export type InvitePreview = Static<typeof InvitePreview>;
