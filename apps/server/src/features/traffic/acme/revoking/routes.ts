import { CertificateRevocation, RevokedCertificate } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { refuse } from '@sallyport/store/errors';
import type { App } from '../../../../http/app-type.ts';
import { parseIdentifier } from '../../../../http/identifier.ts';
import type { ProvePassword } from '../../certificates/routes.ts';
import type { Revoking } from './service.ts';

const Params = Type.Object({ id: Type.String() });

export const revokingRoutes =
  (revoking: Revoking, provePassword: ProvePassword) =>
  async (app: App): Promise<void> => {
    app.post(
      '/certificates/:id/revoke',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags: ['certificates'],
          summary: 'Have an ordered certificate revoked by its authority; another one is ordered in its place',
          description:
            'For good. Who is signed in gives the password again. It is served until the other one is there, and told as revoked meanwhile.',
          params: Params,
          body: CertificateRevocation,
          response: { 200: RevokedCertificate },
        },
      },
      async ({ params, body: { reason = 'unspecified', password }, actor }) => {
        // An API token has no password, and nobody leaves it signed in at a screen.
        if (actor.identity.kind === 'user' && actor.identity.sessionId !== null) {
          if (password === undefined) throw refuse.invalid('password is required: it proves that it is you');
          await provePassword(password, actor);
        }
        return revoking.revoke(parseIdentifier(params.id), reason, actor);
      },
    );
  };
