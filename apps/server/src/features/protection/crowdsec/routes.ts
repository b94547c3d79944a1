import { CrowdsecStart, CrowdsecStatus, CrowdsecStop } from '@sallyport/contract';
import type { App } from '../../../http/app-type.ts';
import type { Crowdsec } from './service.ts';

const tags = ['security'];

export const crowdsecRoutes =
  (crowdsec: Crowdsec) =>
  async (app: App): Promise<void> => {
    app.post(
      '/admin/crowdsec/start',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Start CrowdSec; answers when its local API is ready',
          response: { 200: CrowdsecStart },
        },
      },
      async (request) => crowdsec.start(request.actor),
    );

    app.post(
      '/admin/crowdsec/stop',
      {
        config: { policy: 'sensitive' },
        schema: { tags, summary: 'Stop CrowdSec; bans it made stay until they end', response: { 200: CrowdsecStop } },
      },
      async (request) => crowdsec.stop(request.actor),
    );

    app.get(
      '/admin/crowdsec/status',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Tell whether CrowdSec runs', response: { 200: CrowdsecStatus } },
      },
      async () => crowdsec.status(),
    );
  };
