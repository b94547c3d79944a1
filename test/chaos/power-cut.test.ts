import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startLockedOut } from '../support/locked-out.ts';
import { startPostgres } from '../support/start-postgres.ts';
import { emergencyReset } from './emergency-work.ts';
import { seededRandom } from './seeded-random.ts';
import type { Work } from './work.ts';

/** POWER_CUTS=200 makes so many, CHAOS_SEED=7 repeats one order. */
const cuts = Number(process.env.POWER_CUTS ?? 3);
const seed = Number(process.env.CHAOS_SEED ?? 1);
/** Work that takes longer than this is cut in its first part only. */
const LONGEST_MS = 400;

test.each(['SQLite', 'PostgreSQL'])(
  `a power cut in the middle of something leaves all of it or nothing, and all when it was acknowledged (seed ${seed}, %s)`,
  async (store) => {
    const postgres = store === 'PostgreSQL' ? await startPostgres() : undefined;
    onTestFinished(async () => postgres?.stop());
    const lockedOut = await startLockedOut(postgres?.url);
    const { product } = lockedOut;
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') process.stderr.write(product.log().slice(-20_000));
      await lockedOut.stop();
    });
    const works: readonly Work[] = [
      emergencyReset(lockedOut, 1),
      emergencyReset(lockedOut, 2),
      emergencyReset(lockedOut, 3),
    ];
    const random = seededRandom(seed);
    const acknowledged: boolean[] = [];

    for (let cut = 0; cut < cuts; cut += 1) {
      const work = works[cut % works.length] as Work;
      await work.prepare();
      const running = work.run();
      // Every other one has its time, and on the other store the others: it must not be that none was ever acknowledged.
      if (cut % 2 === (postgres ? 1 : 0)) await Promise.race([running, sleep(10_000)]);
      await sleep(random() * LONGEST_MS);
      await product.cutPower();
      const wasAcknowledged = await running;
      acknowledged.push(wasAcknowledged);
      const started = new AbortController();
      const watching = work.watchStart?.(wasAcknowledged, started.signal);
      // Should it fail before it is waited for.
      watching?.catch(() => undefined);
      await product.start();
      started.abort();
      const name = `${work.name}, cut ${cut}, ${wasAcknowledged ? 'acknowledged' : 'not acknowledged'}`;
      try {
        await watching;
        await work.check(wasAcknowledged);
      } catch (error) {
        throw new Error(name, { cause: error });
      }
    }
    expect(acknowledged).toContain(true);
  },
  60_000 + cuts * 120_000,
);
