import { NewSetting, Setting } from '@sallyport/contract';
import { Type } from 'typebox';
import type { App } from '../../http/app-type.ts';
import type { Settings } from './service.ts';

const tags = ['settings'];

export const settingRoutes =
  (settings: Settings) =>
  async (app: App): Promise<void> => {
    app.get(
      '/settings',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'List all settings',
          response: { 200: Type.Object({ settings: Type.Array(Setting) }) },
        },
      },
      async () => ({ settings: await settings.list() }),
    );

    app.post(
      '/settings',
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'Set a setting', body: NewSetting, response: { 200: Setting } },
      },
      async (request) => settings.set(request.body, request.actor),
    );
  };
