import { AccessListFields } from './access-list.ts';
import { choice, RowId } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** A source of rules for the guard's engine, in the order in which they are read. */
const RuleSource = Type.Union([
  Type.Object({ kind: Type.Literal('text'), path: Type.String(), text: Type.String() }),
  Type.Object({ kind: Type.Literal('file'), path: Type.String({ description: 'Absolute path, read as Latin-1.' }) }),
]);

/** An exclusion for some requests only, or for a time; the others are directives in `rule_sources` already. */
const RequestExclusion = Type.Object({
  rule_id: Type.Optional({ ...RowId, description: 'Absent: the target is left out of all rules.' }),
  target: Type.Optional(Type.String()),
  host_id: Type.Optional(RowId),
  path: Type.Optional(Type.String({ description: 'Prefix of the decoded path, compared at segment borders.' })),
});

/**
 * All that a guard needs to judge, as the server writes it to `<dataDir>/guard/config.json` (0600, atomic rename).
 * Nothing in it names a file of the data directory, and an expired exclusion is not in it.
 */
export const GuardConfig = Type.Object(
  {
    revision: Type.Integer({ minimum: 1, description: 'Grows with every change; a guard reports the one it serves.' }),
    access: Type.Object({
      enabled: Type.Boolean({ description: 'Master switch and security.acl.enabled.' }),
      lists: Type.Array(Type.Object({ id: RowId, ...AccessListFields.properties })),
    }),
    waf: Type.Object({
      enabled: Type.Boolean({ description: 'Master switch and security.waf.enabled.' }),
      mode: choice(['monitor', 'block']),
      fail_mode: choice(['closed', 'open']),
      rule_sources: Type.Array(RuleSource),
      exclusions: Type.Array(RequestExclusion),
      body_limit: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Longest request body, bytes. Default 13107200.' }),
      ),
    }),
    admin_whitelist: Type.Array(Type.String({ description: 'Canonical address or CIDR range: never judged.' })),
    hosts: Type.Array(
      Type.Object({
        id: RowId,
        access_list_id: Type.Union([RowId, Type.Null()]),
        waf_enabled: Type.Boolean(),
        waf_settings: Type.Optional(
          Type.Record(Type.String(), Type.String(), {
            description: 'TX variables of the Core Rule Set that this host has otherwise than the rules say.',
          }),
        ),
        waf_body_limit: Type.Optional(Type.Integer({ minimum: 1, description: "In place of the suite's body_limit." })),
      }),
      {
        description:
          'Proxy hosts with an access list, without the firewall or with settings of their own. Any other is as the suite says.',
      },
    ),
  },
  { title: 'GuardConfig' },
);
export type GuardConfig = Static<typeof GuardConfig>;
