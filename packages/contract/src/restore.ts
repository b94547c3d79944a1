import { type Static, Type } from './schema.ts';

export const RestoreRequest = Type.Object(
  {
    passphrase: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_024,
        description: 'Of a backup that is encrypted; default: `backup.passphrase`.',
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({ default: false, description: 'Check all of it and tell what would change, and change nothing.' }),
    ),
  },
  { title: 'RestoreRequest' },
);
export type RestoreRequest = Static<typeof RestoreRequest>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const RestoreReport = Type.Object(
  {
    restored: Type.Boolean({ description: 'False after a dry run.' }),
    changes: Type.Record(
      Type.String(),
      Type.Object({
        added: count('Objects that were not there.'),
        changed: count('Objects that were there, and are otherwise now.'),
        removed: count('Objects that the backup does not have.'),
      }),
      { description: 'By kind, such as `proxy_hosts`; kinds that stay as they are are left out.' },
    ),
    backup: Type.Optional(Type.String({ description: 'The backup of what was there before; absent after a dry run.' })),
  },
  { title: 'RestoreReport' },
);
export type RestoreReport = Static<typeof RestoreReport>;
