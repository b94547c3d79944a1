import type { RecordChange } from '@sallyport/store/actor';
import type { Database } from '@sallyport/store/database/open';
import { createDecisions } from '../features/protection/decisions/service.ts';
import { decisionStore } from '../features/protection/decisions/store.ts';

/** The decisions of a store where the suite is on and nobody is whitelisted; no plane is told of them. */
export const storedDecisions = (
  { kysely: db, transact }: Pick<Database, 'kysely' | 'transact'>,
  record: RecordChange = async () => undefined,
) =>
  createDecisions({
    db,
    transact,
    store: decisionStore,
    whitelist: async () => [],
    plane: { decisionsChanged: async () => {} },
    inForce: () => ({ guard: true, crowdsec: true }),
    record,
    clock: () => new Date(),
  });
