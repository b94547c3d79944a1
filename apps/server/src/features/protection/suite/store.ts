import { type SecurityConfig, WAF_SETUP_DEFAULTS, type WafExclusion } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { areSwitchedOn, SWITCH_KEYS, type Switches } from '@sallyport/store/security-switches';
import { sql } from 'kysely';

/** All that is stored of the configuration; the master switch is a setting. */
export type StoredSecurityConfig = Omit<SecurityConfig, 'enabled'>;

/** The setting of the whole suite. */
export const MASTER_SWITCH = SWITCH_KEYS.guard;

/** A proxy host that the guards treat differently from others. */
export interface GuardedHost {
  id: number;
  access_list_id: number | null;
  waf_enabled: boolean;
  waf_allowed_methods: string | null;
  waf_allowed_content_types: string | null;
  waf_body_limit: number | null;
  forward_host: string;
  forward_port: number;
  forward_reserved: boolean;
}

/** Literally the condition of the index `proxy_hosts_special`: with a parameter in it, all hosts would be read. */
const isSpecial = sql<boolean>`(access_list_id is not null or waf_enabled = 0
  or waf_allowed_methods is not null or waf_allowed_content_types is not null or waf_body_limit is not null
  or forward_reserved = 1)`;

export const securityStore = (db: Executor) => ({
  async config(): Promise<StoredSecurityConfig | undefined> {
    const row = await db.selectFrom('security_config').selectAll().where('id', '=', 1).executeTakeFirst();
    if (!row) return undefined;
    const { id, ...fields } = row;
    return {
      ...fields,
      crowdsec_mode: row.crowdsec_mode as SecurityConfig['crowdsec_mode'],
      waf_mode: row.waf_mode as SecurityConfig['waf_mode'],
      waf_fail_mode: row.waf_fail_mode as SecurityConfig['waf_fail_mode'],
      waf_exclusions: JSON.parse(row.waf_exclusions) as WafExclusion[],
    };
  },

  async setConfig(config: StoredSecurityConfig): Promise<void> {
    const values = { ...config, waf_exclusions: JSON.stringify(config.waf_exclusions) };
    await db
      .insertInto('security_config')
      .values({ id: 1, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute();
  },

  switches: (): Promise<Switches> => areSwitchedOn(db),

  async setMaster(enabled: boolean): Promise<void> {
    const value = String(enabled);
    await db
      .insertInto('settings')
      .values({ key: MASTER_SWITCH, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
  },

  async tokenHash(): Promise<string | undefined> {
    const row = await db.selectFrom('break_glass_tokens').select('token_hash').where('id', '=', 1).executeTakeFirst();
    return row?.token_hash;
  },

  async setToken(token_hash: string, created_at: string): Promise<void> {
    const values = { token_hash, created_at };
    await db
      .insertInto('break_glass_tokens')
      .values({ id: 1, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute();
  },

  async deleteToken(): Promise<void> {
    await db.deleteFrom('break_glass_tokens').execute();
  },

  /** Hosts with an access list, without the firewall, with settings of it of their own or a reserved origin; all others are alike. */
  async guardedHosts(): Promise<GuardedHost[]> {
    const rows = await db
      .selectFrom('proxy_hosts')
      .select([
        ...(['id', 'access_list_id', 'waf_enabled'] as const),
        ...(['waf_allowed_methods', 'waf_allowed_content_types', 'waf_body_limit'] as const),
        ...(['forward_host', 'forward_port', 'forward_reserved'] as const),
      ])
      .where(isSpecial)
      .orderBy('id')
      .execute();
    return rows.map((row) => ({
      ...row,
      waf_enabled: row.waf_enabled === 1,
      forward_reserved: row.forward_reserved === 1,
    }));
  },

  /** Longest request body that any host takes, bytes. */
  async largestBodyLimit(): Promise<number> {
    const ofSuite = (await this.config())?.waf_body_limit ?? WAF_SETUP_DEFAULTS.waf_body_limit;
    const hosts = await this.guardedHosts();
    return hosts.reduce((most, { waf_body_limit }) => Math.max(most, waf_body_limit ?? 0), ofSuite);
  },

  async hasSpecialHost(ids: readonly number[]): Promise<boolean> {
    if (ids.length === 0) return false;
    const row = await db
      .selectFrom('proxy_hosts')
      .select('id')
      .where('id', 'in', ids)
      .where(isSpecial)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  },

  /** Ids of the proxy hosts with these UUIDs. */
  async hostIds(uuids: readonly string[]): Promise<Map<string, number>> {
    if (uuids.length === 0) return new Map();
    const rows = await db.selectFrom('proxy_hosts').select(['id', 'uuid']).where('uuid', 'in', uuids).execute();
    return new Map(rows.map(({ id, uuid }) => [uuid, id]));
  },

  async revision(): Promise<number> {
    const row = await db.selectFrom('revisions').select('revision').where('id', '=', 1).executeTakeFirst();
    return Number(row?.revision ?? 0);
  },
});
export type SecurityStore = ReturnType<typeof securityStore>;
