import { DescribedSetting, ListQuery, MailTest, MailTestRequest, NewSetting, Setting } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { refuse } from '@sallyport/store/errors';
import { parseEmail } from '@sallyport/store/names/email-address';
import type { App } from '../../../http/app-type.ts';
import { sendPage } from '../../../http/paging.ts';
import { ifMatch, tagged } from '../../../http/versions.ts';
import type { Mailer } from './mailer.ts';
import type { Settings } from './service.ts';

const tags = ['settings'];
const Params = Type.Object({ key: Type.String() });

const readRecipient = (text: string): string => {
  try {
    return parseEmail(text);
  } catch (error) {
    throw refuse.invalid(`to ${(error as Error).message}`);
  }
};

export const settingRoutes =
  ({ settings, mailer }: { settings: Settings; mailer: Pick<Mailer, 'test'> }) =>
  async (app: App): Promise<void> => {
    app.get(
      '/settings',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'List all settings',
          querystring: ListQuery,
          response: { 200: Type.Object({ settings: Type.Array(DescribedSetting) }) },
        },
      },
      async (request, reply) => ({ settings: sendPage(request, reply, await settings.list(request.query)) }),
    );

    app.get(
      '/settings/:key',
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'Read a setting', params: Params, response: { 200: DescribedSetting } },
      },
      async (request, reply) => tagged(reply, await settings.get(request.params.key)),
    );

    app.post(
      '/settings',
      {
        config: { policy: 'administrator', isConfirmable: true },
        schema: { tags, summary: 'Set a setting', body: NewSetting, response: { 200: Setting } },
      },
      async (request, reply) => {
        const stored = await settings.set(request.body, request.actor, ifMatch(request));
        tagged(reply, await settings.get(stored.key));
        return stored;
      },
    );

    app.delete(
      '/settings/:key',
      {
        config: { policy: 'administrator', isConfirmable: true },
        schema: {
          tags,
          summary: 'Go back to the default of a setting',
          params: Params,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await settings.reset(request.params.key, request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );

    app.post(
      '/settings/test-mail',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Send a test mail with the mail settings',
          body: MailTestRequest,
          response: { 200: MailTest },
        },
      },
      async (request) => {
        const { identity } = request.actor;
        const own = identity.kind === 'user' ? identity.email : '';
        return mailer.test(readRecipient(request.body.to ?? own));
      },
    );
  };
