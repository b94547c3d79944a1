import { type Static, Type } from './schema.ts';

export const Warning = Type.Object(
  {
    field: Type.String({ description: 'Field of the object that does not do all it says.' }),
    message: Type.String({ description: 'Why not, in words.' }),
  },
  { title: 'Warning' },
);
export type Warning = Static<typeof Warning>;
