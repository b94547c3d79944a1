import { ListQuery, NewRuleset, Ruleset, RulesetCheck, RulesetDraft } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { parseIdentifier } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { ifMatch, tagged } from '../../../http/versions.ts';
import type { Rulesets } from './service.ts';

const tags = ['rulesets'];
const Params = Type.Object({ id: Type.String() });
const RulesetAnswer = Type.Object({ ruleset: Ruleset });

export const rulesetRoutes =
  (rulesets: Rulesets) =>
  async (app: App): Promise<void> => {
    app.get(
      '/security/rulesets',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List rulesets',
          querystring: ListQuery,
          response: { 200: Type.Object({ rulesets: Type.Array(Ruleset) }) },
        },
      },
      async (request, reply) => ({ rulesets: sendPage(request, reply, await rulesets.list(request.query)) }),
    );

    app.get(
      '/security/rulesets/:id',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Read a ruleset', params: Params, response: { 200: RulesetAnswer } },
      },
      async (request, reply) => ({
        ruleset: tagged(reply, await rulesets.get(parseIdentifier(request.params.id))),
      }),
    );

    app.post(
      '/security/rulesets',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: {
          tags,
          summary: 'Add a ruleset or replace the one of this name; its rules are compiled first',
          body: NewRuleset,
          response: { 200: RulesetAnswer },
        },
      },
      async (request, reply) => ({
        ruleset: tagged(reply, await rulesets.upsert(request.body, request.actor, ifMatch(request))),
      }),
    );

    app.post(
      '/security/rulesets/check',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Tell what is wrong with rules that are not stored; they are compiled as they would be used',
          body: RulesetDraft,
          response: { 200: RulesetCheck },
        },
      },
      async (request) => rulesets.check(request.body, () => !request.raw.socket.destroyed),
    );

    app.delete(
      '/security/rulesets/:id',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: {
          tags,
          summary: 'Delete a ruleset that is not selected',
          params: Params,
          response: { 200: Type.Object({ deleted: Type.Boolean() }) },
        },
      },
      async (request) => {
        await rulesets.remove(parseIdentifier(request.params.id), request.actor, ifMatch(request));
        return { deleted: true };
      },
    );
  };
