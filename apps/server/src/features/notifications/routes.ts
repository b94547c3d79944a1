import { NotificationSettings, NotificationSettingsPatch, NotificationTest } from '@sallyport/contract';
import { Type } from 'typebox';
import type { App } from '../../http/app-type.ts';
import { hideWebhook } from '../security/hide-webhook.ts';
import type { Notifications } from './service.ts';

const tags = ['notifications'];

export const notificationRoutes =
  (notifications: Notifications) =>
  async (app: App): Promise<void> => {
    app.get(
      '/security/notifications/settings',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Read the notification settings', response: { 200: NotificationSettings } },
      },
      async (request) => hideWebhook(await notifications.settings(), request.actor),
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
      async (request) => {
        await notifications.configure(request.body, request.actor);
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
  };
