import { type Static, Type } from 'typebox';

export const Health = Type.Object({ status: Type.Literal('ok') }, { title: 'Health' });
export type Health = Static<typeof Health>;
