import { Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

export const InternalAuthority = Type.Object(
  {
    subject: Type.String({ description: 'What lists of trusted authorities call it.' }),
    sha256: Type.String({ description: 'Fingerprint of the root: bytes in hex, with colons, to compare by eye.' }),
    not_after: Timestamp,
    created_at: Timestamp,
    issue: Type.Union([Type.String(), Type.Null()], { description: 'That it expires within two years, in words.' }),
  },
  { title: 'InternalAuthority', description: 'The root of the authority for names that no public one can reach.' },
);
export type InternalAuthority = Static<typeof InternalAuthority>;
