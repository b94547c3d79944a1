import { type Static, Type } from './schema.ts';

const proxy = Type.Union([Type.Literal('up'), Type.Literal('down')], {
  description: 'Whether HAProxy answers on this node. While it is down the API goes on, but no site is served.',
});

export const Health = Type.Object({ status: Type.Literal('ok'), proxy }, { title: 'Health' });
export type Health = Static<typeof Health>;
