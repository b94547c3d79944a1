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

export const RulesetDraft = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 255, description: 'What it is to be called. Default ruleset.' })),
    mode: Type.Optional(Mode),
    content: Type.String({ description: 'SecLang rules.' }),
  },
  { title: 'RulesetDraft', additionalProperties: false },
);
export type RulesetDraft = Static<typeof RulesetDraft>;

const Diagnostic = Type.Object({
  line: Type.Integer({ description: 'From 1.' }),
  column: Type.Integer({ description: 'From 1, in bytes of UTF-8.' }),
  message: Type.String(),
  token: Type.String({ description: 'What it is about, as it is written there; empty at the end of a line.' }),
  expected: Type.String({ description: 'What would be right, in words; empty when message says so.' }),
  file: Type.Union([Type.String(), Type.Null()], {
    description: 'File of the Core Rule Set that line and column are of; null: they are of content.',
  }),
});

export const RulesetCheck = Type.Object(
  {
    rule_count: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'Rules in content; null: not valid.',
    }),
    errors: Type.Array(Diagnostic, { description: 'What is wrong, the first twenty.' }),
    warnings: Type.Array(Diagnostic, {
      description:
        'What loads, and does nothing or something else than it seems to: a directive without effect here, a rule that never matches. The first twenty, of content alone.',
    }),
  },
  { title: 'RulesetCheck' },
);
export type RulesetCheck = Static<typeof RulesetCheck>;

export const Ruleset = Type.Object(
  {
    id: RowId,
    uuid: Uuid,
    name: Type.String(),
    source_url: Type.String(),
    mode: Mode,
    content: Type.String(),
    rule_count: Type.Integer({ minimum: 0, description: 'Rules in content.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Ruleset' },
);
export type Ruleset = Static<typeof Ruleset>;
