import '@fastify/websocket';
import { LiveLogQuery, type LogEntry } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import type { App } from '../../../http/app-type.ts';
import { closeWhenRefused } from '../../../http/close-when-refused.ts';
import { isSameOrigin } from '../../../http/local-caller.ts';
import type { LogHub } from './hub.ts';
import { type LiveReaderOptions, serveLiveReader } from './live-reader.ts';
import { maskEntry } from './mask-entry.ts';

const wholeEntry = (entry: LogEntry): LogEntry => entry;

export const logRoutes =
  (hub: LogHub, options: Omit<LiveReaderOptions, 'show'>) =>
  async (app: App): Promise<void> => {
    app.route({
      method: 'GET',
      url: '/logs/live',
      config: { policy: 'member' },
      schema: {
        tags: ['logs'],
        summary: 'Stream security log entries (WebSocket upgrade)',
        querystring: LiveLogQuery,
      },
      // A page of another origin can open a WebSocket and its cookie goes along: nothing but this check stops it.
      preValidation: async (request) => {
        if (!isSameOrigin(request.raw)) throw refuse.forbidden('WebSocket connections of another origin are refused');
      },
      handler: async () => {
        throw refuse.invalid('A WebSocket upgrade is required');
      },
      wsHandler: (socket, request) => {
        const { level, source, backlog = 0 } = request.query as LiveLogQuery;
        const isWhole = request.allows('sensitive');
        closeWhenRefused(socket, request, isWhole ? 'sensitive' : 'member');
        serveLiveReader(socket, hub, { level, source }, backlog, {
          ...options,
          show: isWhole ? wholeEntry : maskEntry,
        });
      },
    });
  };
