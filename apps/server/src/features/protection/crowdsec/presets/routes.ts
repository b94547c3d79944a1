import { CrowdsecPreset, ListQuery } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../../http/app-type.ts';
import { sendPage } from '../../../../http/paging.ts';
import type { Presets } from './service.ts';

const tags = ['security'];
const Params = Type.Object({
  author: Type.String({ description: 'First part of its name.' }),
  name: Type.String({ description: 'Second part of its name.' }),
});

export const presetRoutes =
  (presets: Presets) =>
  async (app: App): Promise<void> => {
    app.get(
      '/admin/crowdsec/presets',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List the collections and scenarios of the installed hub, and which of them are applied',
          querystring: ListQuery,
          response: { 200: Type.Object({ presets: Type.Array(CrowdsecPreset) }) },
        },
      },
      async (request, reply) => ({ presets: sendPage(request, reply, await presets.list(request.query)) }),
    );

    app.post(
      '/admin/crowdsec/presets/:author/:name/apply',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Have CrowdSec judge by a preset; once it is applied, this changes nothing',
          params: Params,
          response: { 200: CrowdsecPreset },
        },
      },
      async ({ params: { author, name }, actor }) => presets.apply(`${author}/${name}`, actor),
    );

    app.delete(
      '/admin/crowdsec/presets/:author/:name',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Take a preset back; bans that it made stay until they end',
          params: Params,
          response: { 200: CrowdsecPreset },
        },
      },
      async ({ params: { author, name }, actor }) => presets.takeBack(`${author}/${name}`, actor),
    );
  };
