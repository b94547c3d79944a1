import { randomBytes } from 'node:crypto';
import {
  type AcceptedInvite,
  type Invite,
  type InviteAcceptance,
  type InviteCheck,
  type InvitePreview,
  type NewInvite,
  type ResentInvite,
  SAMPLE_INVITE_TOKEN,
} from '@sallyport/contract';
import { readEmail } from '@sallyport/store/accounts/users/read-email';
import { newUserRow, refuseDuplicate } from '@sallyport/store/accounts/users/service';
import type { UserStore } from '@sallyport/store/accounts/users/store';
import { toUser } from '@sallyport/store/accounts/users/to-user';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { hashSecret } from '@sallyport/store/secrets/hash-secret';
import type { PasswordHasher } from '@sallyport/store/secrets/password-hasher';
import { checkNewPassword } from '@sallyport/store/secrets/password-rules';
import { invitationMail } from './invitation-mail.ts';
import type { InviteOfUser, InviteStore } from './store.ts';

export interface InviteDeps {
  db: Executor;
  transactAside: TransactAside;
  users: (executor: Executor) => UserStore;
  invites: (executor: Executor) => InviteStore;
  hasher: Pick<PasswordHasher, 'hash'>;
  /** Sends a mail; resolves to false when mail is not configured or was not taken. */
  sendMail: (mail: { to: string; subject: string; text: string }) => Promise<boolean>;
  /** The setting `app.public_url`; empty when it is not set. */
  publicUrl: () => Promise<string>;
  /** URL of this server as seen on its own host. */
  localUrl: () => string;
  record: RecordChange;
  invalidate: () => void;
  clock: () => Date;
}

const LIFETIME_MS = 48 * 3_600_000;
const UNREACHABLE = 'The application URL is not configured; the link may not be reachable from external networks.';

export const createInvites = (deps: InviteDeps) => {
  const { db, transactAside, users, invites, hasher, sendMail, publicUrl, localUrl, record, invalidate, clock } = deps;

  const baseUrl = async () => (await publicUrl()) || localUrl();
  const linkTo = (base: string, token: string) => `${base}/accept-invite?token=${encodeURIComponent(token)}`;

  /** Makes a fresh token in the transaction and voids earlier ones; only its hash is stored. */
  const issue = async (tx: Executor, userId: number) => {
    const now = clock();
    const token = randomBytes(32).toString('base64url');
    const expires_at = new Date(now.getTime() + LIFETIME_MS).toISOString();
    await users(tx).voidInvites(userId, now.toISOString());
    const row = { user_id: userId, token_hash: hashSecret(token), created_at: now.toISOString(), expires_at };
    await invites(tx).insert(row);
    return { token, expires_at };
  };

  /** After the commit: a mail can't be taken back, and a slow mail server must not hold the store's lock. */
  const deliver = async (email: string, { token, expires_at }: { token: string; expires_at: string }) => {
    const invite_url = linkTo(await baseUrl(), token);
    const email_sent = await sendMail({ to: email, ...invitationMail(invite_url, expires_at) });
    return { email_sent, invite_url, expires_at };
  };

  /** Throws a 404 for an unknown token, 409 for a used one, 410 for an expired one. */
  const checkToken = (invite: InviteOfUser | undefined): InviteOfUser => {
    if (!invite) throw refuse.notFound('Invitation not found');
    if (invite.used_at !== null) throw refuse.conflict('The invitation has already been used');
    if (Date.parse(invite.expires_at) <= clock().getTime()) throw refuse.gone('The invitation has expired');
    if (invite.status !== 'pending') throw refuse.gone('The invitation is no longer open');
    return invite;
  };

  const findOpen = async (executor: Executor, token: string): Promise<InviteOfUser> =>
    checkToken(await invites(executor).find(hashSecret(token)));

  return {
    /** Adds a pending user and invites them. Throws a 409 for an address that is taken. */
    async create(input: NewInvite, actor: Actor): Promise<Invite> {
      const email = readEmail(input.email);
      const fields = {
        email,
        name: input.name,
        role: input.role ?? 'user',
        status: 'pending',
        password_hash: null,
      } as const;
      const { user, issued } = await transactAside(async (tx) => {
        const after = await users(tx).insert(newUserRow(fields, clock().toISOString()));
        await record(tx, { action: 'user.invite', actor, resource: `users/${after.id}`, after: toUser(after) });
        return { user: after, issued: await issue(tx, after.id) };
      }).catch(refuseDuplicate);
      return { user: toUser(user), ...(await deliver(email, issued)) };
    },

    /** Sends a new link; the old one stops working. Throws a 404, or a 400 unless the user is pending. */
    async resend(userId: number, actor: Actor): Promise<ResentInvite> {
      const { email, issued } = await transactAside(async (tx) => {
        const user = await users(tx).find(userId);
        if (!user) throw refuse.notFound('User not found');
        if (user.status !== 'pending') throw refuse.invalid('User is not in pending status');
        await record(tx, { action: 'user.invite_resent', actor, resource: `users/${userId}` });
        return { email: user.email, issued: await issue(tx, userId) };
      });
      return deliver(email, issued);
    },

    async validate(token: string): Promise<InviteCheck> {
      const { email } = await findOpen(db, token);
      return { valid: true, email };
    },

    /** Sets name and password of the invited user and makes them active. The link works once. */
    async accept({ token, name, password }: InviteAcceptance, actor: Actor): Promise<AcceptedInvite> {
      const { email } = await findOpen(db, token);
      checkNewPassword(password, email);
      const password_hash = await hasher.hash(password, actor.isLocal);
      const user = await transactAside(async (tx) => {
        const invite = await findOpen(tx, token);
        const now = clock().toISOString();
        await invites(tx).use(invite.id, now);
        const before = await users(tx).find(invite.user_id);
        const after = await users(tx).update(invite.user_id, {
          name: (name ?? before?.name ?? '').trim(),
          password_hash,
          status: 'active',
          updated_at: now,
        });
        await record(tx, {
          action: 'user.invite_accepted',
          actor,
          resource: `users/${after.id}`,
          before: before && toUser(before),
          after: toUser(after),
        });
        return after;
      });
      invalidate();
      return { valid: true, email: user.email, user: toUser(user) };
    },

    /** Shows what an invitation link would look like; invites nobody (spec, Preview-invite-url rules). */
    async preview(email: string): Promise<InvitePreview> {
      readEmail(email);
      const configured = await publicUrl();
      const base_url = configured || localUrl();
      const is_configured = configured !== '';
      return {
        preview_url: linkTo(base_url, SAMPLE_INVITE_TOKEN),
        base_url,
        is_configured,
        email,
        warning: !is_configured,
        warning_message: is_configured ? '' : UNREACHABLE,
      };
    },
  };
};
export type Invites = ReturnType<typeof createInvites>;
