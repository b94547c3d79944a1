import { AuditEntry, AuditQuery, AuditVerification } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { Audit } from '@sallyport/store/audit/service';
import type { App } from '../../../http/app-type.ts';
import { sendPage } from '../../../http/paging.ts';

export const auditRoutes =
  (audit: Pick<Audit, 'list' | 'verify'>) =>
  async (app: App): Promise<void> => {
    app.get(
      '/audit-logs',
      {
        config: { policy: 'administrator' },
        schema: {
          tags: ['audit'],
          summary: 'List who changed what, newest first',
          querystring: AuditQuery,
          response: { 200: Type.Array(AuditEntry) },
        },
      },
      async (request, reply) => sendPage(request, reply, await audit.list(request.query)),
    );

    app.get(
      '/audit-logs/verify',
      {
        config: { policy: 'administrator' },
        schema: {
          tags: ['audit'],
          summary: 'Recompute the chain of entries: tells the first one that was changed, removed or added',
          response: { 200: AuditVerification },
        },
      },
      async () => audit.verify(),
    );
  };
