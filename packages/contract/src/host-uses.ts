import { RowId, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';

const HostUse = Type.Object({ id: RowId, uuid: Uuid, domain: Type.String() }, { title: 'HostUse' });

/** Fields of an object that proxy hosts refer to; in the answer to GET of that one object only. */
export const usedBy = {
  used_by: Type.Array(HostUse, { description: 'Proxy hosts that use it: the first hundred.' }),
  used_by_total: Type.Integer({ minimum: 0, description: 'How many proxy hosts use it.' }),
};

const HostUses = Type.Object(usedBy);
export type HostUses = Static<typeof HostUses>;
