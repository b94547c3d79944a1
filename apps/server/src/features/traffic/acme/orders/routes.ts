import { Certificate, NewCertificateOrder } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../../http/app-type.ts';
import { parseIdentifier } from '../../../../http/identifier.ts';
import type { Orders } from './service.ts';

const tags = ['certificates'];
const Params = Type.Object({ id: Type.String() });
const Ordered = Type.Object({ certificate: Certificate });

export const orderRoutes =
  (orders: Orders) =>
  async (app: App): Promise<void> => {
    app.post(
      '/certificates/order',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Order a certificate; it comes and renews by itself',
          description: 'Answers at once: the certificate is pending until it is there, and tells its steps meanwhile.',
          body: NewCertificateOrder,
          response: { 202: Ordered },
        },
      },
      async (request, reply) => {
        const { used_by: _, used_by_total: __, ...certificate } = await orders.order(request.body, request.actor);
        return reply.code(202).header('location', `/api/v1/certificates/${certificate.id}`).send({ certificate });
      },
    );

    app.post(
      '/certificates/:id/renew',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Renew a certificate now, or try for it again',
          params: Params,
          response: { 202: Ordered },
        },
      },
      async (request, reply) => {
        const id = parseIdentifier(request.params.id);
        const { used_by: _, used_by_total: __, ...certificate } = await orders.renew(id, request.actor);
        return reply.code(202).header('location', `/api/v1/certificates/${certificate.id}`).send({ certificate });
      },
    );
  };
