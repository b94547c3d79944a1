import { Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

const root = {
  subject: Type.String({ description: 'What lists of trusted authorities call it.' }),
  sha256: Type.String({ description: 'Fingerprint of the root: bytes in hex, with colons, to compare by eye.' }),
  not_after: Timestamp,
  created_at: Timestamp,
};

export const InternalRoot = Type.Object(root, { title: 'InternalRoot' });
export type InternalRoot = Static<typeof InternalRoot>;

export const MeantRoot = Type.Object(
  {
    sha256: Type.String({
      pattern: '^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){31}$',
      description:
        'Fingerprint of the next root that is meant, as `next` shows it: another one that was made since is a 409.',
    }),
  },
  { title: 'MeantRoot', additionalProperties: false },
);
export type MeantRoot = Static<typeof MeantRoot>;

export const InternalAuthority = Type.Object(
  {
    ...root,
    issue: Type.Union([Type.String(), Type.Null()], {
      description: 'Why it can sign nothing, or that it expires within two years, in words.',
    }),
    next: Type.Union([InternalRoot, Type.Null()], {
      description: 'A root that was made to follow this one, and signs nothing before it takes over.',
    }),
  },
  { title: 'InternalAuthority', description: 'The root of the authority for names that no public one can reach.' },
);
export type InternalAuthority = Static<typeof InternalAuthority>;
