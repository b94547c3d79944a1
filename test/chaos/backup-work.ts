import { openDatabase } from '@sallyport/store/database/open';
import { expect } from 'vitest';
import { type Answers, all, type Estate } from './estate.ts';
import { isAcknowledged, type Work } from './work.ts';

interface Made {
  name: string;
}

const MOST_BACKUPS = 6;

/** Backups are made one after the other: each that was acknowledged is there, and whatever is there is whole. */
export const makingBackups = (estate: Estate): Work => {
  let made: string[] = [];
  return {
    name: 'making backups',
    async prepare() {
      await estate.prepare(all(estate, 'red'));
      made = [];
    },
    async run() {
      try {
        while (made.length < MOST_BACKUPS) made.push((await estate.call<Made>('POST', '/backups', {})).name);
        return true;
      } catch {
        return false;
      }
    },
    async check() {
      expect(await estate.backups()).toEqual(expect.arrayContaining(made));
      expect(await estate.answers()).toEqual(all(estate, 'red'));
      await estate.check();
    },
  };
};

/** A backup is restored that differs in every host, among them one that only an access list or only being off protects. */
export const restoring = (estate: Estate, to: 'listed' | 'off'): Work => {
  const [first = '', second = '', ...others] = estate.domains;
  const backedUp: Answers = all(estate, 'red');
  const since: Answers = { ...all(estate, 'blue'), [first]: undefined, [second]: undefined };
  let name = '';
  return {
    name: `restoring, to ${to}`,
    longestMs: 1_500,
    async prepare() {
      await estate.prepare(backedUp);
      await estate.denied(to);
      ({ name } = await estate.call<Made>('POST', '/backups', {}));
      await estate.denied(to === 'listed' ? 'off' : 'listed');
      for (const domain of [first, second]) await estate.put(domain, undefined);
      for (const domain of others) await estate.put(domain, 'blue');
      expect(await estate.answers()).toEqual(since);
    },
    run: () => isAcknowledged(estate.call('POST', `/backups/${name}/restore`, {})),
    async check(wasAcknowledged) {
      const found = await estate.answers();
      expect(wasAcknowledged ? [backedUp] : [backedUp, since]).toContainEqual(found);
      const isRestored = found[first] !== undefined;
      expect(await estate.isDeniedBy(), 'what protects a host').toBe(
        (to === 'listed') === isRestored ? 'listed' : 'off',
      );
      await estate.check();
    },
  };
};

/** A store of an earlier level is started: it is migrated, and what it was before is a backup. */
export const migrating = (estate: Estate, databaseUrl: string | undefined): Work => {
  const { product } = estate;
  const missing = { table: 'emergency_drills', step: '0042-emergency-drills' } as const;
  return {
    name: 'migrating',
    longestMs: 2_500,
    async prepare() {
      await estate.prepare(all(estate, 'red'));
      await product.cutPower();
      const database = openDatabase({ dataDir: product.dataDir, databaseUrl });
      await database.kysely.schema.dropTable(missing.table).execute();
      await database.kysely
        .deleteFrom('schema_migrations' as never)
        .where('name' as never, '=', missing.step as never)
        .execute();
      await database.stop();
    },
    run: () => isAcknowledged(product.start()),
    async check() {
      expect(await estate.answers()).toEqual(all(estate, 'red'));
      const reasons = (await estate.call<{ reason: string }[]>('GET', '/backups')).map(({ reason }) => reason);
      expect(reasons).toContain('before-migration');
      await estate.check();
    },
  };
};
