import { TrafficFigures, TrafficFiguresQuery } from '@sallyport/contract';
import type { App } from '../../../http/app-type.ts';
import type { TrafficFiguresService } from './service.ts';

export const trafficFigureRoutes =
  ({ figures }: Pick<TrafficFiguresService, 'figures'>) =>
  async (app: App): Promise<void> => {
    app.get(
      '/traffic/figures',
      {
        config: { policy: 'member' },
        schema: {
          tags: ['health'],
          summary: 'Count requests, errors and bytes over time, as far as two days back',
          querystring: TrafficFiguresQuery,
          response: { 200: TrafficFigures },
        },
      },
      async (request) => figures(request.query),
    );
  };
