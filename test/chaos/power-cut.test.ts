import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startLockedOut } from '../support/locked-out.ts';
import { startPostgres } from '../support/start-postgres.ts';
import { makingBackups, migrating, restoring } from './backup-work.ts';
import { changingHosts, changingLists, reverting } from './changing-work.ts';
import { emergencyReset } from './emergency-work.ts';
import { createEstate } from './estate.ts';
import { seededRandom } from './seeded-random.ts';
import type { Work } from './work.ts';

/** POWER_CUTS=200 makes so many, CHAOS_SEED=7 repeats one order, POWER_CUT_WORK=restoring takes only what is named so. */
const cuts = Number(process.env.POWER_CUTS ?? 2);
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
    const random = seededRandom(seed);
    const estate = await createEstate(lockedOut);
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') process.stderr.write(product.log().slice(-20_000));
      await estate.stop();
      await lockedOut.stop();
    });
    // A few cuts come to the first of them on SQLite, and to those that follow on PostgreSQL.
    const works: readonly Work[] = [
      restoring(estate, 'listed'),
      changingHosts(estate, random),
      makingBackups(estate),
      emergencyReset(lockedOut, 2),
      reverting(estate, 'batch'),
      migrating(estate, postgres?.url),
      emergencyReset(lockedOut, 1),
      restoring(estate, 'off'),
      changingLists(estate),
      emergencyReset(lockedOut, 3),
      reverting(estate, 'change'),
    ].filter(({ name }) => name.includes(process.env.POWER_CUT_WORK ?? ''));
    const acknowledged: boolean[] = [];

    for (let cut = 0; cut < cuts; cut += 1) {
      const work = works[(cut + (postgres ? cuts : 0)) % works.length] as Work;
      await work.prepare();
      const running = work.run();
      // Every other one has its time, and on the other store the others: it must not be that none was ever acknowledged.
      if (cut % 2 === (postgres ? 1 : 0)) await Promise.race([running, sleep(10_000)]);
      await sleep(random() * (work.longestMs ?? LONGEST_MS));
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
