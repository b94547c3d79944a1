import { Block, BlockQuery, BlockStatistics, BlockStatisticsQuery, BlockSummary } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { sendPage } from '../../../http/paging.ts';
import type { Blocks } from './service.ts';

export const blockRoutes =
  (blocks: Blocks) =>
  async (app: App): Promise<void> => {
    app.get(
      '/security/blocks',
      {
        config: { policy: 'administrator' },
        schema: {
          tags: ['blocks'],
          summary: 'List refused requests, newest first',
          querystring: BlockQuery,
          response: { 200: Type.Object({ blocks: Type.Array(BlockSummary) }) },
        },
      },
      async (request, reply) => ({ blocks: sendPage(request, reply, await blocks.list(request.query)) }),
    );

    app.get(
      '/security/blocks/summary',
      {
        config: { policy: 'administrator' },
        schema: {
          tags: ['blocks'],
          summary: 'Count refused requests: over time, and the most frequent hosts, rules, clients and countries',
          querystring: BlockStatisticsQuery,
          response: { 200: BlockStatistics },
        },
      },
      async (request) => blocks.summary(request.query),
    );

    app.get(
      '/security/blocks/:reference',
      {
        config: { policy: 'administrator' },
        schema: {
          tags: ['blocks'],
          summary: 'Explain why a request was refused',
          params: Type.Object({ reference: Type.String({ maxLength: 128 }) }),
          response: { 200: Block },
        },
      },
      async (request) => blocks.find(request.params.reference),
    );
  };
