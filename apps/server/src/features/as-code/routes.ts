import { isUtf8 } from 'node:buffer';
import { Applied, ApplyQuery, ConfigDocument, ExportQuery } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { refuse } from '@sallyport/store/errors';
import type { App } from '../../http/app-type.ts';
import type { AsCode } from './service.ts';
import type { Yaml } from './yaml.ts';

const tags = ['as-code'];
const config = { policy: 'sensitive' } as const;
const YAML = ['application/yaml', 'application/x-yaml', 'text/yaml'];
/** As an import: rule sets are long. */
const bodyLimit = 10 * 1024 * 1024;

export const asCodeRoutes =
  (asCode: AsCode, yaml: Yaml) =>
  async (app: App): Promise<void> => {
    app.addContentTypeParser(YAML, { parseAs: 'buffer', bodyLimit }, async (_request: unknown, body: Buffer) => {
      if (!isUtf8(body)) throw refuse.invalid('body must be UTF-8');
      return yaml.read(body.toString());
    });

    app.get(
      '/export',
      {
        config,
        schema: {
          tags,
          summary: 'Write all that is configured as one document, without secrets; always in the same order',
          description:
            'What is as the defaults have it is left out. Certificates, accounts, tokens and decisions are not in it; settings are for ' +
            'administrators only.',
          querystring: ExportQuery,
          produces: ['application/yaml', 'application/json'],
          response: { 200: Type.String() },
        },
      },
      async (request, reply) => {
        const document = await asCode.export(request.allows('administrator'));
        if (request.query.format === 'json') {
          return reply.type('application/json; charset=utf-8').send(`${JSON.stringify(document, null, 2)}\n`);
        }
        return reply.type('application/yaml; charset=utf-8').send(await yaml.write(document));
      },
    );

    app.post(
      '/apply',
      {
        config: { ...config, isConfirmable: true },
        bodyLimit,
        schema: {
          tags,
          summary: 'Make everything what a document says, all in one change; answers when it is live',
          description:
            'Takes JSON, or YAML with Content-Type: application/yaml. Objects are told by their names; what the document leaves out is ' +
            'left alone unless prune is true. What is there is backed up before. Settings take an administrator.',
          querystring: ApplyQuery,
          body: ConfigDocument,
          response: { 200: Applied },
        },
      },
      async (request) => {
        const { dry_run, prune } = request.query;
        const { actor } = request;
        const how = { isDry: dry_run === 'true', isPruning: prune === 'true' };
        return asCode.apply(request.body, how, { actor, allows: request.allows });
      },
    );
  };
