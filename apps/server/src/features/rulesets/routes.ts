import { NewRuleset, Ruleset } from '@sallyport/contract';
import { Type } from 'typebox';
import type { App } from '../../http/app-type.ts';
import { parseRowId } from '../../http/row-id.ts';
import type { Rulesets } from './service.ts';

const tags = ['rulesets'];
const Params = Type.Object({ id: Type.String() });

export const rulesetRoutes =
  (rulesets: Rulesets) =>
  async (app: App): Promise<void> => {
    app.get(
      '/security/rulesets',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'List rulesets', response: { 200: Type.Object({ rulesets: Type.Array(Ruleset) }) } },
      },
      async () => ({ rulesets: await rulesets.list() }),
    );

    app.post(
      '/security/rulesets',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Add a ruleset or replace the one of this name; its rules are compiled first',
          body: NewRuleset,
          response: { 200: Type.Object({ ruleset: Ruleset }) },
        },
      },
      async (request) => ({ ruleset: await rulesets.upsert(request.body, request.actor) }),
    );

    app.delete(
      '/security/rulesets/:id',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Delete a ruleset that is not selected',
          params: Params,
          response: { 200: Type.Object({ deleted: Type.Boolean() }) },
        },
      },
      async (request) => {
        await rulesets.remove(parseRowId(request.params.id), request.actor);
        return { deleted: true };
      },
    );
  };
