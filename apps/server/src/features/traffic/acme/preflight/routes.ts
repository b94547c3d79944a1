import { NewCertificateOrder, Preflight } from '@sallyport/contract';
import type { App } from '../../../../http/app-type.ts';
import type { OrderPreflight } from './of-order.ts';

export const preflightRoutes =
  (preflight: OrderPreflight) =>
  async (app: App): Promise<void> => {
    app.post(
      '/certificates/preflight',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags: ['certificates'],
          summary: 'Look at what would keep an order from succeeding, without ordering',
          description:
            'Asks DNS, port 80 of each address, CAA records, the limits and, for dns-01, writes a record to the zone and takes ' +
            'it away. May take a minute or two.',
          body: NewCertificateOrder,
          response: { 200: Preflight },
        },
      },
      async (request) => preflight.check(request.body),
    );
  };
