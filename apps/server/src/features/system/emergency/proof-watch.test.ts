import type { NotificationEvent } from '@sallyport/contract';
import { drillStore } from '@sallyport/store/emergency-drills';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { watchProof } from './proof-watch.ts';

const DAY_MS = 86_400_000;

test('a proof is believed for thirty days; then it is told once a day, by one of all that look', () =>
  withStore(async ({ kysely: db }) => {
    const { since } = (await drillStore(db).read()) ?? { since: '' };
    const told: NotificationEvent[] = [];
    const logged: string[] = [];
    const log = pino({}, { write: (line) => void logged.push(line) });
    /** What is told by one that begins to look so long after. */
    const after = async (ms: number, isSetUp = true) => {
      const clock = () => new Date(Date.parse(since) + ms);
      const watch = await watchProof({
        ...{ db, isSetUp, tell: (event) => void told.push(event), clock, log },
      });
      await watch.stop();
      return told
        .splice(0)
        .map(({ message, timestamp, details }) => [
          ...[message, Date.parse(timestamp) - Date.parse(since)],
          details?.last_proven_at,
        ]);
    };
    const never = 'The emergency path has never been proven: run a drill (POST /api/v1/emergency/drill)';
    expect(await after(30 * DAY_MS)).toEqual([]);
    // Nobody means to use the path.
    expect(await after(31 * DAY_MS, false)).toEqual([]);
    expect(await after(30 * DAY_MS + 1)).toEqual([[never, 30 * DAY_MS + 1, null]]);
    expect(await after(31 * DAY_MS)).toEqual([]);
    expect(await after(31 * DAY_MS + 2)).toHaveLength(1);
    await db.updateTable('emergency_drills').set({ proven_at: since }).execute();
    const days = 'The emergency path was last proven 45 days ago: run a drill (POST /api/v1/emergency/drill)';
    expect(await after(45.5 * DAY_MS, false)).toEqual([[days, 45.5 * DAY_MS, since]]);
    await db.deleteFrom('emergency_drills').execute();
    expect(await after(99 * DAY_MS)).toEqual([]);
    expect(logged).toEqual([]);
  }));
