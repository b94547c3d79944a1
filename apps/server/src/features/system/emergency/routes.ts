import { EmergencyDrill, EmergencyReset, EmergencyStatus } from '@sallyport/contract';
import type { App } from '../../../http/app-type.ts';
import type { Emergency } from './service.ts';

const tags = ['emergency'];

/** The way in when everything else refuses; `X-Emergency-Token` is the credential. */
const wayIn =
  (emergency: Emergency) =>
  async (app: App): Promise<void> => {
    // Nothing is asked for but a header: whatever tool is at hand may send whatever body with it.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, payload, done) => {
      payload.resume();
      done(null, undefined);
    });

    app.post(
      '/emergency/security-reset',
      {
        config: { policy: 'public', ignoresQuery: true },
        schema: {
          tags,
          summary: 'Switch off all security modules, with the header X-Emergency-Token',
          response: { 200: EmergencyReset },
        },
      },
      async (request) => {
        const token = request.headers['x-emergency-token'];
        return emergency.reset(Array.isArray(token) ? token.join(',') : token, request.actor);
      },
    );
  };

/** The emergency reset, and what tells whether it would work. */
export const emergencyRoutes =
  (emergency: Emergency) =>
  async (app: App): Promise<void> => {
    // By itself: its ways to read a body are for nothing else.
    await app.register(wayIn(emergency));

    app.get(
      '/emergency/status',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Tell which ways out of a lock-out are set up', response: { 200: EmergencyStatus } },
      },
      async () => emergency.status(),
    );

    app.post(
      '/emergency/drill',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Prove the ways out of a lock-out, without changing anything',
          response: { 200: EmergencyDrill },
        },
      },
      async (request) => emergency.drill(request.actor),
    );
  };
