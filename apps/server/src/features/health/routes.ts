import { Health } from '@sallyport/contract';
import { Type } from 'typebox';
import type { App } from '../../http/app-type.ts';
import type { Metrics } from './metrics.ts';

const tags = ['health'];

export interface HealthDeps {
  registry: Metrics['registry'];
  /** Whether HAProxy answers at the moment. */
  isProxyUp(): Promise<boolean>;
}

export const healthRoutes =
  ({ registry, isProxyUp }: HealthDeps) =>
  async (app: App): Promise<void> => {
    app.get(
      '/health',
      {
        config: { policy: 'public', ignoresQuery: true },
        schema: { tags, summary: 'Tell that the API answers, and whether the proxy does', response: { 200: Health } },
      },
      async () => ({ status: 'ok' as const, proxy: (await isProxyUp()) ? ('up' as const) : ('down' as const) }),
    );

    app.get(
      '/metrics',
      {
        config: { policy: 'public', ignoresQuery: true },
        schema: {
          tags,
          summary: 'Metrics in the Prometheus text format',
          produces: ['text/plain'],
          response: { 200: Type.String() },
        },
      },
      async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()),
    );
  };
