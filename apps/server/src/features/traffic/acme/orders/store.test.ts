import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { emptyStore, onBothDatabases } from '../../../../testing/start-app.ts';
import { withTables } from '../../../../testing/with-store.ts';
import { newOrderRow } from './service.ts';
import { orderStore } from './store.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 22, 12, minute)).toISOString();
const MOMENTS = { now: at(30), latest: at(32), ahead: at(45) };

onBothDatabases('orders that are due', (kind) => {
  test('come in turn, and what is not there yet before a thousand renewals', () =>
    emptyStore(kind, (config) =>
      withTables(config, async (database) => {
        const db = database.kysely;
        const given = async (
          name: string,
          how: { isThere: boolean; due: string; checkDue?: string; leased?: string; tried?: string },
        ) => {
          const certificate = {
            uuid: randomUUID(),
            name,
            provider: 'letsencrypt',
            domains: name,
            chain_pem: '',
            key_sealed: '',
          };
          const times = { not_before: at(0), expires_at: at(59), created_at: at(0) };
          const { id } = await db
            .insertInto('certificates')
            .values({ ...certificate, ...times, is_placeholder: how.isThere ? 0 : 1 })
            .returning('id')
            .executeTakeFirstOrThrow();
          const row = newOrderRow(
            id,
            [name],
            { issuer: 'internal', key_type: 'p256' },
            { isAuto: false, now: how.due },
          );
          const more = {
            ari_checked_until: how.checkDue ?? null,
            leased_until: how.leased ?? '',
            last_attempt_at: how.tried ?? null,
          };
          await orderStore(db).insert([{ ...row, ...more }]);
          return id;
        };
        const checked = await given('checked', { isThere: true, due: at(50), checkDue: at(1) });
        const late = await given('late', { isThere: true, due: at(20) });
        const early = await given('early', { isThere: true, due: at(10) });
        const retried = await given('retried', { isThere: false, due: at(28) });
        const fresh = await given('fresh', { isThere: false, due: at(29) });
        const aheadOfTime = await given('leased by a clock ahead', { isThere: true, due: at(25), leased: at(59) });
        const triedAhead = await given('tried by a clock ahead', { isThere: true, due: at(55), tried: at(46) });
        await given('tried', { isThere: true, due: at(55), tried: at(44) });
        await given('not due', { isThere: true, due: at(40) });
        await given('leased', { isThere: false, due: at(5), leased: at(31) });
        const all = [retried, fresh, early, late, aheadOfTime, triedAhead];
        expect(await orderStore(db).due(MOMENTS, 10)).toEqual(all);
        expect(await orderStore(db).due(MOMENTS, 2)).toEqual(all.slice(0, 2));

        // When to renew is asked beside them, by one, and told unless somebody works at it meanwhile.
        expect(await orderStore(db).unchecked(MOMENTS, 10)).toEqual([checked]);
        const look = async () => {
          const row = await orderStore(db).find(checked);
          if (!row) throw new Error('it is gone');
          return row;
        };
        const row = await look();
        expect(await orderStore(db).beginCheck(row, at(35))).toBe(true);
        expect(await orderStore(db).beginCheck(row, at(36))).toBe(false);
        expect(await orderStore(db).unchecked(MOMENTS, 10)).toEqual([]);
        const said = { next_attempt_at: at(52), ari_checked_until: at(58) };
        await orderStore(db).change(checked, { next_attempt_at: at(30) });
        await orderStore(db).endCheck(row, at(35), said);
        expect(await look()).toMatchObject({ next_attempt_at: at(30), ari_checked_until: at(35) });
        await orderStore(db).endCheck(await look(), at(35), said);
        expect(await look()).toMatchObject(said);
      }),
    ));
});
