import { Health } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import type { Metrics } from './metrics.ts';

const tags = ['health'];

/** Registered twice: below the API root, as the spec has it, and at the root of the server, where scrapers look. */
export const metricsRoute =
  (registry: Metrics['registry']) =>
  async (app: App): Promise<void> => {
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

    await metricsRoute(registry)(app);
  };
