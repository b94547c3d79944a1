import { choice, ignoring, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** What the server assigns. */
const ASSIGNED = ['id', 'uuid', 'rule_count', 'created_at', 'updated_at'];

const Mode = choice(['owasp', 'custom'], {
  description:
    'owasp: together with the installed Core Rule Set and in front of its rules. custom: alone. Default owasp.',
});

export const NewRuleset = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'What it is called; a ruleset of this name is replaced.',
    }),
    source_url: Type.Optional(
      Type.String({
        maxLength: 2_048,
        description: 'Where the rules come from. Fetched (https only, 5 MiB) when no content is given. Default: empty.',
      }),
    ),
    mode: Type.Optional(Mode),
    content: Type.Optional(Type.String({ description: 'SecLang rules. Required without source_url.' })),
  },
  ignoring('NewRuleset', ASSIGNED),
);
export type NewRuleset = Static<typeof NewRuleset>;

export const Ruleset = Type.Object(
  {
    id: RowId,
    uuid: Uuid,
    name: Type.String(),
    source_url: Type.String(),
    mode: Mode,
    content: Type.String(),
    rule_count: Type.Integer({ description: 'Rules in content.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Ruleset' },
);
export type Ruleset = Static<typeof Ruleset>;
