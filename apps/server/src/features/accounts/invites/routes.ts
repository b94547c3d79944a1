import {
  AcceptedInvite,
  Invite,
  InviteAcceptance,
  InviteCheck,
  InvitePreview,
  InvitePreviewRequest,
  InviteQuery,
  NewInvite,
  ResentInvite,
} from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { parseRowId } from '../../../http/identifier.ts';
import { locate } from '../../../http/versions.ts';
import type { Invites } from './service.ts';

const tags = ['users'];

export const inviteRoutes =
  (invites: Invites) =>
  async (app: App): Promise<void> => {
    app.post(
      '/users/invite',
      {
        config: { policy: 'granting' },
        schema: {
          tags,
          summary: 'Invite a user; the link is valid for 48 hours',
          body: NewInvite,
          response: { 201: Invite },
        },
      },
      async (request, reply) => {
        const invite = await invites.create(request.body, request.actor);
        locate(reply, `users/${invite.user.id}`, invite.user);
        return invite;
      },
    );

    app.post(
      '/users/preview-invite-url',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Show what an invitation link would look like',
          body: InvitePreviewRequest,
          response: { 200: InvitePreview },
        },
      },
      async (request) => invites.preview(request.body.email),
    );

    app.post(
      '/users/:id/resend-invite',
      {
        config: { policy: 'granting' },
        schema: {
          tags,
          summary: 'Send a pending user a new link; the old one stops working',
          params: Type.Object({ id: Type.String() }),
          response: { 200: ResentInvite },
        },
      },
      async (request) => invites.resend(parseRowId(request.params.id), request.actor),
    );

    app.get(
      '/invite/validate',
      {
        config: { policy: 'public' },
        schema: {
          tags,
          summary: 'Tell whom an invitation is for',
          querystring: InviteQuery,
          response: { 200: InviteCheck },
        },
      },
      async (request) => invites.validate(request.query.token),
    );

    app.post(
      '/invite/accept',
      {
        config: { policy: 'public' },
        schema: {
          tags,
          summary: 'Accept an invitation: choose name and password',
          body: InviteAcceptance,
          response: { 200: AcceptedInvite },
        },
      },
      async (request) => invites.accept(request.body, request.actor),
    );
  };
