import { InvalidUrl, UrlTest, UrlToCheck, ValidUrl } from '@sallyport/contract';
import type { App } from '../../../http/app-type.ts';
import { type UrlTester, validateUrl } from './service.ts';

const tags = ['settings'];

export const urlRoutes =
  (testUrl: UrlTester) =>
  async (app: App): Promise<void> => {
    app.post(
      '/settings/validate-url',
      {
        config: { policy: 'administrator' },
        // The spec gives this refusal a body of its own.
        attachValidation: true,
        schema: {
          tags,
          summary: 'Check a URL for use as application URL',
          body: UrlToCheck,
          response: { 200: ValidUrl, 400: InvalidUrl },
        },
      },
      async (request, reply) => {
        const refused = (error: string) => reply.code(400).send({ valid: false, error, code: 400 });
        if (request.validationError) return refused(request.validationError.message);
        try {
          return await reply.code(200).send(validateUrl(request.body.url));
        } catch (error) {
          return refused((error as Error).message);
        }
      },
    );

    app.post(
      '/settings/test-url',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Try to reach a public URL from the server',
          body: UrlToCheck,
          response: { 200: UrlTest },
        },
      },
      async (request) => testUrl(request.body.url),
    );
  };
