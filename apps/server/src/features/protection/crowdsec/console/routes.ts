import { ConsoleEnrolment, NewConsoleEnrolment } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../../http/app-type.ts';
import { ifMatch, tagged } from '../../../../http/versions.ts';
import type { Console } from './service.ts';

const tags = ['security'];
const PATH = '/admin/crowdsec/console';

export const consoleRoutes =
  (enrolment: Console) =>
  async (app: App): Promise<void> => {
    app.get(
      PATH,
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Tell whether CrowdSec is enrolled at its console, and what it sends',
          response: { 200: ConsoleEnrolment },
        },
      },
      async (_request, reply) => tagged(reply, await enrolment.state()),
    );

    app.post(
      PATH,
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Enrol CrowdSec at its console; from then on it sends what it sees',
          body: NewConsoleEnrolment,
          response: { 200: ConsoleEnrolment },
        },
      },
      async (request, reply) => tagged(reply, await enrolment.enrol(request.body, request.actor)),
    );

    app.delete(
      PATH,
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'End the enrolment; nothing is sent any more', response: { 204: Type.Null() } },
      },
      async (request, reply) => {
        await enrolment.remove(request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );
  };
