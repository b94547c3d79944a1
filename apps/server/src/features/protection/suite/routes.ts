import {
  BreakGlass,
  BreakGlassToken,
  SecurityConfigAnswer,
  SecurityConfigPatch,
  SecurityStatus,
  WafExclusion,
} from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { ifMatch, locate, tagged } from '../../../http/versions.ts';
import { hideWebhook } from './hide-webhook.ts';
import type { Security } from './service.ts';

const tags = ['security'];
const Enabled = Type.Object({ enabled: Type.Boolean() });

export const securityRoutes =
  (security: Security) =>
  async (app: App): Promise<void> => {
    app.get(
      '/security/status',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Tell which modules are on, and whether they act', response: { 200: SecurityStatus } },
      },
      async () => security.status(),
    );

    app.get(
      '/security/config',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Read the security configuration', response: { 200: SecurityConfigAnswer } },
      },
      async (request, reply) => {
        const stored = (await security.config()).config;
        const config = stored && hideWebhook(stored, request.actor);
        tagged(reply, config ?? {});
        return { config };
      },
    );

    app.post(
      '/security/config',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: {
          tags,
          summary: 'Change the security configuration; answers when it is enforced',
          body: SecurityConfigPatch,
          response: { 200: SecurityConfigAnswer },
        },
      },
      async (request, reply) => {
        const answer = await security.configure(request.body, request.actor, ifMatch(request));
        tagged(reply, answer.config ?? {});
        return answer;
      },
    );

    app.post(
      '/security/exclusions',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: {
          tags,
          summary: 'Leave a rule out; takes what GET /security/blocks/:reference suggests',
          body: WafExclusion,
          response: { 201: SecurityConfigAnswer },
        },
      },
      async (request, reply) => {
        const answer = await security.exclude(request.body, request.actor);
        locate(reply, 'security/config', answer.config ?? {});
        return answer;
      },
    );

    app.post(
      '/security/enable',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: { tags, summary: 'Switch the suite on', body: BreakGlass, response: { 200: Enabled } },
      },
      async (request) => {
        await security.enable(request.body.break_glass_token, request.actor);
        return { enabled: true };
      },
    );

    app.post(
      '/security/disable',
      {
        // The token is the credential: it has to work for who can't sign in any more.
        config: { policy: 'public', isConfirmable: true },
        schema: { tags, summary: 'Switch the suite off', body: BreakGlass, response: { 200: Enabled } },
      },
      async (request) => {
        const isTrustedHere = request.actor.isLocal && request.allows('sensitive');
        await security.disable(request.body.break_glass_token, isTrustedHere, request.actor);
        return { enabled: false };
      },
    );

    app.post(
      '/security/breakglass/generate',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Make a one-time token that switches the suite off from anywhere',
          response: { 200: BreakGlassToken },
        },
      },
      async (request) => ({ token: await security.generateToken(request.actor) }),
    );
  };
