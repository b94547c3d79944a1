import {
  ListQuery,
  NotificationDeliveries,
  NotificationSettings,
  NotificationSettingsPatch,
  NotificationSettingsQuery,
  NotificationTest,
} from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { sendPage } from '../../../http/paging.ts';
import { ifMatch, tagged } from '../../../http/versions.ts';
import { hideWebhook } from '../suite/hide-webhook.ts';
import type { Deliveries } from './deliveries.ts';
import type { Notifier } from './notifier.ts';
import type { Notifications } from './service.ts';

const tags = ['notifications'];

export const notificationRoutes =
  (notifications: Notifications, deliveries: Deliveries, notifier: Pick<Notifier, 'counts'>) =>
  async (app: App): Promise<void> => {
    app.get(
      '/security/notifications/settings',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Read the notification settings',
          querystring: NotificationSettingsQuery,
          response: { 200: NotificationSettings },
        },
      },
      async (request, reply) => {
        const settings = await notifications.settings(request.query.defaults === 'true');
        return tagged(reply, hideWebhook(settings, request.actor));
      },
    );

    app.put(
      '/security/notifications/settings',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Change the notification settings that are given',
          body: NotificationSettingsPatch,
          response: { 200: Type.Object({ message: Type.String() }) },
        },
      },
      async (request, reply) => {
        tagged(reply, await notifications.configure(request.body, request.actor, ifMatch(request)));
        return { message: 'Settings updated successfully' };
      },
    );

    app.post(
      '/security/notifications/test',
      {
        config: { policy: 'sensitive' },
        schema: { tags, summary: 'Send a test notification now', response: { 200: NotificationTest } },
      },
      async () => notifications.test(),
    );

    app.get(
      '/security/notifications/deliveries',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'List what was sent last, and what became of it',
          querystring: ListQuery,
          response: { 200: NotificationDeliveries },
        },
      },
      async (request, reply) => {
        const { queued, dropped } = notifier.counts();
        const sent = sendPage(request, reply, deliveries.list(request.query));
        return { since: deliveries.since, queued, dropped, deliveries: sent };
      },
    );
  };
