import type { ListQuery, ProxyHostFields } from '@sallyport/contract';
import { flagsToRow } from '@sallyport/store/database/flags';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import { inPortions } from '@sallyport/store/database/portions';
import type { ProxyHostRow } from '@sallyport/store/database/tables';
import { type Selectable, sql } from 'kysely';

/** A proxy host as it is stored; `id` is internal and names the host in the data plane. */
export interface StoredProxyHost extends ProxyHostFields {
  id: number;
  uuid: string;
  created_at: string;
  updated_at: string;
}

const FLAGS = [
  'ssl_forced',
  'http2_support',
  'hsts_enabled',
  'hsts_subdomains',
  'block_exploits',
  'websocket_support',
  'enabled',
  'enable_standard_headers',
  'forward_verify_tls',
  'forward_http2',
  'forward_reserved',
  'waf_enabled',
  'waf_inspect_responses',
  'auto_certificate',
] as const;

/** Columns the list may be sorted by. */
const SORTABLE = [
  'domain',
  'name',
  'forward_scheme',
  'forward_host',
  'forward_port',
  'enabled',
  'created_at',
  'updated_at',
] as const;

const fromRow = (row: Selectable<ProxyHostRow>): StoredProxyHost => ({
  ...row,
  forward_scheme: row.forward_scheme as StoredProxyHost['forward_scheme'],
  ssl_forced: row.ssl_forced === 1,
  http2_support: row.http2_support === 1,
  hsts_enabled: row.hsts_enabled === 1,
  hsts_subdomains: row.hsts_subdomains === 1,
  block_exploits: row.block_exploits === 1,
  websocket_support: row.websocket_support === 1,
  enabled: row.enabled === 1,
  enable_standard_headers: row.enable_standard_headers === 1,
  forward_verify_tls: row.forward_verify_tls === 1,
  forward_http2: row.forward_http2 === 1,
  forward_reserved: row.forward_reserved === 1,
  waf_enabled: row.waf_enabled === 1,
  waf_inspect_responses: row.waf_inspect_responses === 1,
  auto_certificate: row.auto_certificate === 1,
});

/** The switches by which the data plane goes, in the order of their bits. */
const ROUTE_SWITCHES = [...FLAGS, 'tls_origin', 'has_access_list'] as const;
type RouteSwitch = (typeof ROUTE_SWITCHES)[number];
export type RouteSwitches = Readonly<Record<RouteSwitch, boolean>>;

/** What the data plane needs of a host. All switches are one number: that halves the time to read a million hosts. */
export interface RouteRow {
  id: number;
  domain: string;
  forward_host: string;
  forward_port: number;
  certificate_id: number | null;
  /** For `readSwitches`. */
  switches: number;
}

const bitOf = (name: RouteSwitch) => sql.lit(2 ** ROUTE_SWITCHES.indexOf(name));
const packedSwitches = sql<number>`${sql.join(
  [
    // These columns hold 0 or 1.
    ...FLAGS.map((flag) => sql`${sql.ref(flag)} * ${bitOf(flag)}`),
    sql`case when forward_scheme = 'https' then ${bitOf('tls_origin')} else 0 end`,
    sql`case when access_list_id is null then 0 else ${bitOf('has_access_list')} end`,
  ],
  sql` + `,
)}`;

/** The switches of a host by name, out of the number in its `RouteRow`. */
export const readSwitches = (switches: number): RouteSwitches =>
  Object.fromEntries(ROUTE_SWITCHES.map((name, bit) => [name, (switches & (2 ** bit)) !== 0])) as RouteSwitches;

/** SQLite binds at most 32,766 values a statement. */
const IDS_A_QUERY = 10_000;
/** Few enough that SQLite, which reads while everybody waits, is done with them in some milliseconds. */
const HOSTS_A_PORTION = 1_000;
/** Fewer with all of their fields. */
const WHOLE_HOSTS_A_PORTION = 250;

const selectRoutes = (db: Executor) =>
  db
    .selectFrom('proxy_hosts')
    .select(['id', 'domain', 'forward_host', 'forward_port', 'certificate_id', packedSwitches.as('switches')]);

export const proxyHostStore = (db: Executor) => ({
  async list(query: ListQuery = {}): Promise<Page<StoredProxyHost>> {
    const matching = db
      .selectFrom('proxy_hosts')
      .$if(query.search !== undefined, (rows) =>
        rows.where(containsText(['domain', 'forward_host', 'name'], query.search ?? '')),
      );
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    return listOf(matching.selectAll(), count, pageOf(query, SORTABLE), fromRow);
  },

  /** Routes of every host in the order of its id, in portions, so that a large table needn't be held twice. */
  async *allRoutes(): AsyncGenerator<RouteRow[]> {
    for (let after = 0; ; ) {
      const rows = await selectRoutes(db).where('id', '>', after).orderBy('id').limit(HOSTS_A_PORTION).execute();
      if (rows.length === 0) return;
      after = rows.at(-1)?.id ?? after;
      yield rows;
    }
  },

  /** Every host in the order of its id, in portions. */
  async *all(): AsyncGenerator<StoredProxyHost[]> {
    for (let after = 0; ; ) {
      const query = db.selectFrom('proxy_hosts').selectAll().where('id', '>', after).orderBy('id');
      const rows = await query.limit(WHOLE_HOSTS_A_PORTION).execute();
      if (rows.length === 0) return;
      after = rows.at(-1)?.id ?? after;
      yield rows.map(fromRow);
    }
  },

  async find(host: Identifier): Promise<StoredProxyHost | undefined> {
    const row = await db.selectFrom('proxy_hosts').selectAll().where(columnOf(host), '=', host).executeTakeFirst();
    return row && fromRow(row);
  },

  /** Hosts by their uuid. */
  async findMany(uuids: readonly string[]): Promise<Map<string, StoredProxyHost>> {
    const found = new Map<string, StoredProxyHost>();
    for await (const portion of inPortions(uuids, IDS_A_QUERY)) {
      const rows = await db.selectFrom('proxy_hosts').selectAll().where('uuid', 'in', portion).execute();
      for (const row of rows) found.set(row.uuid, fromRow(row));
    }
    return found;
  },

  /** Hosts in service that may lead to what is on this machine, our own API among it. */
  async toReserved(): Promise<Pick<StoredProxyHost, 'domain' | 'forward_host' | 'forward_port'>[]> {
    const hosts = db.selectFrom('proxy_hosts').select(['domain', 'forward_host', 'forward_port']);
    return hosts.where('forward_reserved', '=', 1).where('enabled', '=', 1).execute();
  },

  async routesByIds(ids: readonly number[]): Promise<RouteRow[]> {
    const found: RouteRow[][] = [];
    for (let from = 0; from < ids.length; from += IDS_A_QUERY) {
      found.push(
        await selectRoutes(db)
          .where('id', 'in', ids.slice(from, from + IDS_A_QUERY))
          .execute(),
      );
    }
    return found.flat();
  },

  /** Hosts among `names` that belong to another proxy host than `exceptId`. */
  async ownersOf(names: readonly string[], exceptId: number | null): Promise<{ name: string; uuid: string }[]> {
    return db
      .selectFrom('proxy_host_names as n')
      .innerJoin('proxy_hosts as h', 'h.id', 'n.proxy_host_id')
      .select(['n.name', 'h.uuid'])
      .where('n.name', 'in', names)
      .where('n.proxy_host_id', '!=', exceptId ?? 0)
      .execute();
  },

  /** The hosts that have these names, by name. */
  async ownersByName(names: readonly string[]): Promise<Map<string, StoredProxyHost>> {
    const owners = new Map<string, number>();
    for await (const portion of inPortions(names, IDS_A_QUERY)) {
      const found = db.selectFrom('proxy_host_names').selectAll().where('name', 'in', portion);
      for (const { name, proxy_host_id } of await found.execute()) owners.set(name, proxy_host_id);
    }
    const hosts = new Map<number, StoredProxyHost>();
    for await (const portion of inPortions([...new Set(owners.values())], IDS_A_QUERY)) {
      const found = db.selectFrom('proxy_hosts').selectAll().where('id', 'in', portion);
      for (const row of await found.execute()) hosts.set(row.id, fromRow(row));
    }
    return new Map([...owners].map(([name, id]) => [name, hosts.get(id) as StoredProxyHost]));
  },

  /** Adds hosts with their names; by uuid as they are stored. */
  async insertMany(
    hosts: readonly (Omit<StoredProxyHost, 'id'> & { id?: number; names: readonly string[] })[],
  ): Promise<Map<string, StoredProxyHost>> {
    const stored = new Map<string, StoredProxyHost>();
    for await (const portion of inPortions(hosts)) {
      const rows = portion.map(({ names: _, ...host }) => flagsToRow(host, FLAGS));
      const made = await db.insertInto('proxy_hosts').values(rows).returningAll().execute();
      for (const row of made) stored.set(row.uuid, fromRow(row));
    }
    const names = hosts.flatMap((host) =>
      host.names.map((name) => ({ name, proxy_host_id: (stored.get(host.uuid) as StoredProxyHost).id })),
    );
    await this.addNames(names);
    return stored;
  },

  async insert(
    host: Omit<StoredProxyHost, 'id'> & { id?: number },
    names: readonly string[],
  ): Promise<StoredProxyHost> {
    const row = await db
      .insertInto('proxy_hosts')
      .values(flagsToRow(host, FLAGS))
      .returningAll()
      .executeTakeFirstOrThrow();
    await this.setNames(row.id, names);
    return fromRow(row);
  },

  async update(
    id: number,
    patch: Partial<StoredProxyHost>,
    names: readonly string[] | undefined,
  ): Promise<StoredProxyHost> {
    const row = await db
      .updateTable('proxy_hosts')
      .set(flagsToRow(patch, FLAGS as readonly (keyof typeof patch)[]) as object)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (names) {
      await db.deleteFrom('proxy_host_names').where('proxy_host_id', '=', id).execute();
      await this.setNames(id, names);
    }
    return fromRow(row);
  },

  /** Changes hosts as a whole, each to be given once; `names` where they are others than before. */
  async updateAll(changes: readonly { host: StoredProxyHost; names: readonly string[] | undefined }[]): Promise<void> {
    for await (const portion of inPortions(changes)) {
      const rows = portion.map(({ host }) => flagsToRow(host, FLAGS));
      // An update from a list of values, in the words that both databases have for it: none of the rows is new.
      const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== 'id') as (keyof ProxyHostRow)[];
      const query = db.insertInto('proxy_hosts').values(rows);
      await query
        .onConflict((conflict) =>
          conflict
            .column('id')
            .doUpdateSet((eb) => Object.fromEntries(columns.map((column) => [column, eb.ref(`excluded.${column}`)]))),
        )
        .execute();
    }
    const renamed = changes.filter(({ names }) => names !== undefined);
    for await (const portion of inPortions(renamed, IDS_A_QUERY)) {
      const ids = portion.map(({ host }) => host.id);
      await db.deleteFrom('proxy_host_names').where('proxy_host_id', 'in', ids).execute();
    }
    await this.addNames(
      renamed.flatMap(({ host, names = [] }) => names.map((name) => ({ name, proxy_host_id: host.id }))),
    );
  },

  async addNames(rows: readonly { name: string; proxy_host_id: number }[]): Promise<void> {
    for await (const portion of inPortions(rows, IDS_A_QUERY)) {
      await db.insertInto('proxy_host_names').values(portion).execute();
    }
  },

  async setNames(id: number, names: readonly string[]): Promise<void> {
    await this.addNames(names.map((name) => ({ name, proxy_host_id: id })));
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('proxy_hosts').where('id', '=', id).execute();
  },

  async deleteAll(ids: readonly number[]): Promise<void> {
    for await (const portion of inPortions(ids, IDS_A_QUERY)) {
      await db.deleteFrom('proxy_hosts').where('id', 'in', portion).execute();
    }
  },

  /** The id of what a host refers to; undefined when there is no such thing. */
  async idOf(
    table: 'remote_servers' | 'certificates' | 'access_lists',
    named: Identifier,
  ): Promise<number | undefined> {
    return (await db.selectFrom(table).select('id').where(columnOf(named), '=', named).executeTakeFirst())?.id;
  },
});
export type ProxyHostStore = ReturnType<typeof proxyHostStore>;
