import type { ImportSessionRow } from '@sallyport/store/database/import-tables';
import type { Executor } from '@sallyport/store/database/open';
import type { Insertable } from 'kysely';

/** A session without what was uploaded. */
export type StoredSession = Omit<ImportSessionRow, 'files_sealed' | 'reading_sealed'>;

const COLUMNS = [
  'uuid',
  'filename',
  'source',
  'state',
  'actor',
  'owner',
  'attempts',
  'outcome',
  'created_at',
  'updated_at',
] as const;
const ACTIVE = ['parsing', 'reviewing'];
/** Whether a session is under way. */
export const isActive = ({ state }: Pick<StoredSession, 'state'>): boolean => ACTIVE.includes(state);

const NO_TEXTS = { files_sealed: null, reading_sealed: null };

export const importStore = (db: Executor) => ({
  /** The session that is under way. */
  async active(): Promise<StoredSession | undefined> {
    const query = db.selectFrom('import_sessions').select(COLUMNS).where('state', 'in', ACTIVE);
    return query.orderBy('created_at', 'desc').executeTakeFirst();
  },

  async find(uuid: string): Promise<StoredSession | undefined> {
    return db.selectFrom('import_sessions').select(COLUMNS).where('uuid', '=', uuid).executeTakeFirst();
  },

  async parsing(): Promise<string[]> {
    const rows = await db.selectFrom('import_sessions').select('uuid').where('state', '=', 'parsing').execute();
    return rows.map(({ uuid }) => uuid);
  },

  async insert(session: Insertable<ImportSessionRow>): Promise<void> {
    await db.insertInto('import_sessions').values(session).execute();
  },

  /** Counts one more attempt to read it; undefined when nobody has to. */
  async beginReading(
    uuid: string,
    updated_at: string,
  ): Promise<Pick<ImportSessionRow, 'attempts' | 'files_sealed'> | undefined> {
    return db
      .updateTable('import_sessions')
      .set((eb) => ({ attempts: eb('attempts', '+', 1), updated_at }))
      .where('uuid', '=', uuid)
      .where('state', '=', 'parsing')
      .returning(['attempts', 'files_sealed'])
      .executeTakeFirst();
  },

  /** Stores what was read in the place of the files; nothing when the session ended meanwhile. */
  async read(
    uuid: string,
    fields: Pick<ImportSessionRow, 'state' | 'source' | 'reading_sealed' | 'updated_at'>,
  ): Promise<void> {
    const query = db.updateTable('import_sessions').set({ ...fields, files_sealed: null });
    await query.where('uuid', '=', uuid).where('state', '=', 'parsing').execute();
  },

  async reading(uuid: string): Promise<string | null> {
    const query = db.selectFrom('import_sessions').select('reading_sealed').where('uuid', '=', uuid);
    return (await query.executeTakeFirst())?.reading_sealed ?? null;
  },

  /** Ends an active session, and forgets what was uploaded; false when it had ended. */
  async end(uuid: string, fields: Pick<ImportSessionRow, 'state' | 'outcome' | 'updated_at'>): Promise<boolean> {
    const ended = await db
      .updateTable('import_sessions')
      .set({ ...fields, ...NO_TEXTS })
      .where('uuid', '=', uuid)
      .where('state', 'in', ACTIVE)
      .returning('uuid')
      .executeTakeFirst();
    return ended !== undefined;
  },

  /** Forgets why earlier ones failed, which quotes what was uploaded. */
  async forgetFailures(): Promise<void> {
    await db.updateTable('import_sessions').set(NO_TEXTS).where('state', '=', 'failed').execute();
  },

  async idleSince(moment: string): Promise<StoredSession[]> {
    const query = db.selectFrom('import_sessions').select(COLUMNS).where('state', 'in', ACTIVE);
    return query.where('updated_at', '<', moment).execute();
  },

  /** Removes sessions that ended before; returns how many. */
  async removeEnded(before: string): Promise<number> {
    const query = db.deleteFrom('import_sessions').where('state', 'not in', ACTIVE).where('updated_at', '<', before);
    return Number((await query.executeTakeFirst()).numDeletedRows);
  },
});
export type ImportStore = ReturnType<typeof importStore>;
