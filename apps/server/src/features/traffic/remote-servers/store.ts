import type { HostUses, ListQuery, RemoteServer } from '@sallyport/contract';
import { flagsToRow, toFlag } from '@sallyport/store/database/flags';
import { hostUses } from '@sallyport/store/database/host-uses';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import type { RemoteServerRow } from '@sallyport/store/database/tables';
import type { Selectable } from 'kysely';

const FLAGS = ['enabled', 'reachable'] as const;
const SORTABLE = ['name', 'provider', 'host', 'port', 'enabled', 'reachable', 'created_at', 'updated_at'] as const;

const fromRow = (row: Selectable<RemoteServerRow>): RemoteServer => ({
  ...row,
  provider: row.provider as RemoteServer['provider'],
  enabled: row.enabled === 1,
  reachable: row.reachable === 1,
});

export const remoteServerStore = (db: Executor) => ({
  async list(query: ListQuery, isEnabled: boolean | undefined): Promise<Page<RemoteServer>> {
    const matching = db
      .selectFrom('remote_servers')
      .$if(isEnabled !== undefined, (rows) => rows.where('enabled', '=', toFlag(isEnabled === true)))
      .$if(query.search !== undefined, (rows) => rows.where(containsText(['name', 'host'], query.search ?? '')));
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    return listOf(matching.selectAll(), count, pageOf(query, SORTABLE), fromRow);
  },

  async find(named: Identifier): Promise<RemoteServer | undefined> {
    const query = db.selectFrom('remote_servers').selectAll().where(columnOf(named), '=', named);
    const row = await query.executeTakeFirst();
    return row && fromRow(row);
  },

  async insert(server: Omit<RemoteServer, 'id'> & { id?: number }): Promise<RemoteServer> {
    const values = flagsToRow(server, FLAGS);
    return fromRow(await db.insertInto('remote_servers').values(values).returningAll().executeTakeFirstOrThrow());
  },

  async update(id: number, patch: Partial<RemoteServer>): Promise<RemoteServer | undefined> {
    const values = flagsToRow(patch, FLAGS);
    const row = await db
      .updateTable('remote_servers')
      .set(values)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row && fromRow(row);
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('remote_servers').where('id', '=', id).execute();
  },

  uses: (id: number): Promise<HostUses> => hostUses(db, 'remote_server_id', id),
});
export type RemoteServerStore = ReturnType<typeof remoteServerStore>;
