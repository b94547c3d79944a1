import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { emptyStore, onBothDatabases } from '../../../../../testing/start-app.ts';
import { withTables } from '../../../../../testing/with-store.ts';
import { newOrderRow } from '../service.ts';
import { orderStore } from '../store.ts';
import { createFailingOrders } from './failing-orders.ts';
import { autoStore } from './store.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 22, 12, minute)).toISOString();

onBothDatabases('orders that fail', (kind) => {
  test('are read anew when any of them changed, and only then', () =>
    emptyStore(kind, (config) =>
      withTables(config, async (database) => {
        const db = database.kysely;
        let reads = 0;
        const store = autoStore(db);
        const failing = createFailingOrders({
          failingMark: store.failingMark,
          issuesByName: () => {
            reads += 1;
            return store.issuesByName();
          },
        });
        const told = async () => Object.fromEntries([...(await failing())].map(([name, { issue }]) => [name, issue]));
        const given = async (name: string): Promise<number> => {
          const certificate = { uuid: randomUUID(), name, provider: 'letsencrypt', domains: name };
          const times = { not_before: at(0), expires_at: at(59), created_at: at(0) };
          const { id } = await db
            .insertInto('certificates')
            .values({ ...certificate, ...times, chain_pem: '', key_sealed: '', is_placeholder: 1 })
            .returning('id')
            .executeTakeFirstOrThrow();
          await orderStore(db).insert([
            newOrderRow(id, [name], { issuer: 'internal', key_type: 'p256' }, { isAuto: true, now: at(0) }),
          ]);
          return id;
        };
        const change = (
          id: number,
          fields: { issue?: string | null; failures?: number; updated_at?: string; next_attempt_at?: string },
        ) => db.updateTable('certificate_orders').set(fields).where('certificate_id', '=', id).execute();
        expect(await told()).toEqual({});
        const [one, other, ahead] = [await given('one.test'), await given('other.test'), await given('ahead.test')];
        await change(one, { issue: 'refused', failures: 2, updated_at: at(10) });
        // By a node whose clock runs ahead: its time stays the newest.
        await change(ahead, { issue: 'unreachable', failures: 1, updated_at: at(50) });
        expect(await told()).toEqual({ 'one.test': 'refused', 'ahead.test': 'unreachable' });
        const before = reads;
        expect(await told()).toEqual({ 'one.test': 'refused', 'ahead.test': 'unreachable' });
        expect(reads).toBe(before);
        // As many fail, as often, and the newest time is as it was.
        await change(one, { issue: null, failures: 0, updated_at: at(11) });
        await change(other, { issue: 'no such name', failures: 2, updated_at: at(11) });
        expect(await told()).toEqual({ 'other.test': 'no such name', 'ahead.test': 'unreachable' });
        await change(other, { next_attempt_at: at(55) });
        expect((await failing()).get('other.test')?.nextAttemptAt).toBe(at(55));
      }),
    ));
});
