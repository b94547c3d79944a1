import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Transact } from '@sallyport/store/database/open';
import { storedSwitches, switchAllOff } from '@sallyport/store/security-switches';

/**
 * Switches the whole suite off in the store and writes that down, in one transaction. Without `record` (the key of the audit trail is
 * lost) nothing is written down, which must not keep an operator out. Rejects when the store can't be written.
 */
export const switchOffInStore = (
  { transact, record }: { transact: Transact; record: RecordChange | undefined },
  actor: Actor,
): Promise<void> =>
  transact(async (tx) => {
    const before = await storedSwitches(tx);
    await switchAllOff(tx);
    const after = await storedSwitches(tx);
    const history = Object.keys(after).map((key) => ({
      resource: `settings/${key}`,
      before: { value: before[key] ?? null },
      after: { value: after[key] },
    }));
    await record?.(tx, { action: 'emergency.reset', actor, resource: 'emergency', before, after, history });
  });
