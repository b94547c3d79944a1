import { RestoreReport, RestoreRequest } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import type { Restore } from './service.ts';

const tags = ['backups'];

export const restoreRoutes =
  ({ restore }: Restore) =>
  async (app: App): Promise<void> => {
    app.post(
      '/backups/:name/restore',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Put what is configured back to what a backup holds; takes a session, no API token',
          description:
            'All of it is checked first, and what is there is backed up. Accounts, tokens and the audit trail stay as they are, and bans that are in force. Until all of it is in force the proxy answers 503 to everybody but administrators.',
          params: Type.Object({ name: Type.String() }),
          body: RestoreRequest,
          response: { 200: RestoreReport },
        },
      },
      async (request) => restore(request.params.name, request.body, request.actor),
    );
  };
