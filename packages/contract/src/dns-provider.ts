import { type Static, Type } from './schema.ts';

const DnsProviderField = Type.Object(
  {
    key: Type.String({ description: 'Its name in `fields`.' }),
    label: Type.String({ description: 'What to put in.' }),
    secret: Type.Boolean({ description: 'Can be set but never read.' }),
    required: Type.Boolean({ description: "Nothing works without it. Of lego's fields nobody can say." }),
  },
  { title: 'DnsProviderField' },
);
export type DnsProviderField = Static<typeof DnsProviderField>;

export const DnsProviderType = Type.Object(
  {
    type: Type.String(),
    name: Type.String({ description: 'For people.' }),
    fields: Type.Array(DnsProviderField),
  },
  { title: 'DnsProviderType' },
);
export type DnsProviderType = Static<typeof DnsProviderType>;
