import { PasswordProof, RecoveryCodes, TotpConfirmation, TotpSecret } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../../http/app-type.ts';
import type { SecondFactor } from './second-factor.ts';

const tags = ['auth'];

export const totpRoutes =
  (secondFactor: SecondFactor) =>
  async (app: App): Promise<void> => {
    app.post(
      '/auth/totp/setup',
      {
        config: { policy: 'account' },
        schema: {
          tags,
          summary: 'Begin two-factor sign-in: a secret for the authenticator app',
          body: PasswordProof,
          response: { 200: TotpSecret },
        },
      },
      async (request) => secondFactor.begin(request.body, request.actor),
    );

    app.post(
      '/auth/totp/enable',
      {
        config: { policy: 'account' },
        schema: {
          tags,
          summary: 'Turn two-factor sign-in on with a first code; gives the recovery codes',
          body: TotpConfirmation,
          response: { 200: RecoveryCodes },
        },
      },
      async (request) => secondFactor.enable(request.body, request.actor),
    );

    app.post(
      '/auth/totp/disable',
      {
        config: { policy: 'account' },
        schema: {
          tags,
          summary: 'Turn two-factor sign-in off',
          body: PasswordProof,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await secondFactor.disable(request.body, request.actor);
        return reply.code(204).send(null);
      },
    );

    app.post(
      '/auth/totp/recovery-codes',
      {
        config: { policy: 'account' },
        schema: {
          tags,
          summary: 'Replace all recovery codes',
          body: PasswordProof,
          response: { 200: RecoveryCodes },
        },
      },
      async (request) => secondFactor.renewRecoveryCodes(request.body, request.actor),
    );
  };
