import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { migrate } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { SWITCH_KEYS, storedSwitches } from '@sallyport/store/security-switches';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { switchOffInStore } from './switch-off.ts';

const ACTOR = systemActor('test');
const OFF = Object.fromEntries(Object.values(SWITCH_KEYS).map((key) => [key, 'false']));

/** A store in which the firewall is stored as on, and the rest by default. */
const withStore = (work: (database: Database, path: string) => Promise<void>) =>
  withTemporaryDirectory(async (dataDir) => {
    const database = openDatabase({ dataDir, databaseUrl: undefined });
    try {
      await migrate(database);
      await database.kysely.deleteFrom('settings').where('key', 'in', Object.values(SWITCH_KEYS)).execute();
      await database.kysely.insertInto('settings').values({ key: SWITCH_KEYS.waf, value: 'true' }).execute();
      await work(database, join(dataDir, 'sallyport.db'));
    } finally {
      await database.stop();
    }
  });

test('all five switches are stored as off, and with them what each was before', () =>
  withStore(async ({ kysely, transact }) => {
    const recorded: ChangeEntry[] = [];
    await switchOffInStore({ transact, record: async (_tx, entry) => void recorded.push(entry) }, ACTOR);
    expect(await storedSwitches(kysely)).toEqual(OFF);
    expect(recorded).toEqual([
      {
        ...{ action: 'emergency.reset', actor: ACTOR, resource: 'emergency' },
        before: { [SWITCH_KEYS.waf]: 'true' },
        after: OFF,
        history: expect.arrayContaining(
          Object.values(SWITCH_KEYS).map((key) => ({
            resource: `settings/${key}`,
            before: { value: key === SWITCH_KEYS.waf ? 'true' : null },
            after: { value: 'false' },
          })),
        ),
      },
    ]);
    expect(recorded[0]?.history).toHaveLength(5);
  }));

test('nothing is stored when it can not be written down; without a trail it is stored all the same', () =>
  withStore(async ({ kysely, transact }) => {
    const record = () => Promise.reject(new Error('the trail is away'));
    await expect(switchOffInStore({ transact, record }, ACTOR)).rejects.toThrow('the trail is away');
    expect(await storedSwitches(kysely)).toEqual({ [SWITCH_KEYS.waf]: 'true' });
    await switchOffInStore({ transact, record: undefined }, ACTOR);
    expect(await storedSwitches(kysely)).toEqual(OFF);
  }));

test('a store that takes no settings is told, and nothing of it is written down', () =>
  withStore(async ({ kysely, transact }, path) => {
    const file = new DatabaseSync(path);
    file.exec("create trigger full before insert on settings begin select raise(abort, 'full'); end");
    file.close();
    const record = () => expect.unreachable('what is not stored is written down');
    await expect(switchOffInStore({ transact, record }, ACTOR)).rejects.toThrow('full');
    expect(await storedSwitches(kysely)).toEqual({ [SWITCH_KEYS.waf]: 'true' });
  }));
