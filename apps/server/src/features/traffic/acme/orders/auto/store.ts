import { hash } from 'node:crypto';
import type { Executor } from '@sallyport/store/database/open';
import { inPortions } from '@sallyport/store/database/portions';
import { sql } from 'kysely';
import { endOf } from '../../../certificates/usage.ts';
import type { AutoHost, KnownCertificate, KnownOrder } from './plan.ts';

/** SQLite binds at most 32,766 values a statement. */
const IDS_A_QUERY = 10_000;

/** What has to be known to tell which hosts lack a certificate. */
export const autoStore = (db: Executor) => ({
  async hosts(): Promise<AutoHost[]> {
    const rows = await db
      .selectFrom('proxy_hosts')
      .select(['id', 'domain'])
      // Not a parameter: SQLite would not use the index, which has these hosts only.
      .where('auto_certificate', '=', sql.lit(1))
      .where('certificate_id', 'is', null)
      .orderBy('id')
      .execute();
    return rows.map(({ id, domain }) => ({ id, names: domain.split(',') }));
  },

  async certificates(): Promise<KnownCertificate[]> {
    const rows = await db
      .selectFrom('certificates')
      .select(['id', 'domains', 'expires_at', 'revoked_at', 'is_placeholder'])
      .execute();
    return rows.map(({ id, domains, is_placeholder, ...row }) => ({
      ...{ id, domains, expires_at: endOf(row) },
      isPlaceholder: is_placeholder === 1,
    }));
  },

  async orders(): Promise<KnownOrder[]> {
    const rows = await db
      .selectFrom('certificate_orders')
      .select(['certificate_id', 'issuer', 'names', 'is_auto', 'next_attempt_at'])
      .execute();
    return rows.map((row) => ({
      certificateId: row.certificate_id,
      issuer: row.issuer,
      names: row.names.split(','),
      isAuto: row.is_auto === 1,
      nextAttemptAt: row.next_attempt_at,
    }));
  },

  /**
   * What tells that other orders fail, or otherwise, than at the look before. It names each with its last attempt and its next: sums
   * over all of them stay the same where one begins to fail and another ends, and a node whose clock runs ahead has the newest time.
   */
  async failingMark(): Promise<string> {
    const { mark } = await db
      .selectFrom('certificate_orders as o')
      .innerJoin('certificates as c', 'c.id', 'o.certificate_id')
      .select(
        sql<string | null>`string_agg(
          o.certificate_id || ' ' || o.updated_at || ' ' || o.failures || ' ' || coalesce(o.next_attempt_at, ''), ','
          order by o.certificate_id)`.as('mark'),
      )
      .where('o.issue', 'is not', null)
      .where('c.is_placeholder', '=', 1)
      .executeTakeFirstOrThrow();
    return hash('sha256', mark ?? '');
  },

  /** Issues of orders that failed, by the names they are for. */
  async issuesByName(): Promise<Map<string, { issue: string; nextAttemptAt: string | null }>> {
    const rows = await db
      .selectFrom('certificate_orders as o')
      .innerJoin('certificates as c', 'c.id', 'o.certificate_id')
      .select(['o.names', 'o.issue', 'o.next_attempt_at'])
      .where('o.issue', 'is not', null)
      .where('c.is_placeholder', '=', 1)
      .execute();
    return new Map(
      rows.flatMap(({ names, issue, next_attempt_at }) =>
        names.split(',').map((name) => [name, { issue: issue ?? '', nextAttemptAt: next_attempt_at }] as const),
      ),
    );
  },

  /** The first of these names that a host has; with a wildcard, of any name one label below it. */
  async isUsed(names: readonly string[]): Promise<boolean> {
    for await (const portion of inPortions(names, IDS_A_QUERY)) {
      const wildcards = portion.filter((name) => name.startsWith('*.'));
      const found = await db
        .selectFrom('proxy_host_names')
        .select('name')
        .where(({ eb, or }) =>
          or([eb('name', 'in', portion), ...wildcards.map((wildcard) => eb('name', 'like', `%${wildcard.slice(1)}`))]),
        )
        .limit(1)
        .execute();
      if (found.length > 0) return true;
    }
    return false;
  },

  async isChosen(certificateId: number): Promise<boolean> {
    const found = await db
      .selectFrom('proxy_hosts')
      .select('id')
      .where('certificate_id', '=', certificateId)
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  },
});
export type AutoStore = ReturnType<typeof autoStore>;
