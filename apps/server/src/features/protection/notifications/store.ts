import type { LogLevel, NotificationSettings } from '@sallyport/contract';
import { toFlag } from '@sallyport/store/database/flags';
import type { Executor } from '@sallyport/store/database/open';

/** As stored; the secret is sealed. */
export type StoredNotificationSettings = Omit<NotificationSettings, 'webhook_secret_set'> & {
  webhook_secret_sealed: string | null;
};

export const notificationStore = (db: Executor) => ({
  async find(): Promise<StoredNotificationSettings | undefined> {
    const row = await db.selectFrom('notification_settings').selectAll().where('id', '=', 1).executeTakeFirst();
    if (!row) return undefined;
    const { id, ...fields } = row;
    return {
      ...fields,
      min_log_level: row.min_log_level as LogLevel,
      webhook_format: row.webhook_format as NotificationSettings['webhook_format'],
      enabled: row.enabled === 1,
      notify_waf_blocks: row.notify_waf_blocks === 1,
      notify_acl_denials: row.notify_acl_denials === 1,
      notify_rate_limit_hits: row.notify_rate_limit_hits === 1,
    };
  },

  async set(settings: StoredNotificationSettings): Promise<void> {
    const values = {
      ...settings,
      enabled: toFlag(settings.enabled),
      notify_waf_blocks: toFlag(settings.notify_waf_blocks),
      notify_acl_denials: toFlag(settings.notify_acl_denials),
      notify_rate_limit_hits: toFlag(settings.notify_rate_limit_hits),
    };
    await db
      .insertInto('notification_settings')
      .values({ id: 1, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute();
  },
});
export type NotificationStore = ReturnType<typeof notificationStore>;
