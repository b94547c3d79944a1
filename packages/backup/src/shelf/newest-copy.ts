import type { Executor } from '@sallyport/store/database/open';
import { createReceipts } from './receipts.ts';

/** Where backups are copied to, and when the newest that is there was put there. */
export interface NewestCopy {
  /** As `backup.copy_url` says; empty: nowhere. */
  to: string;
  /** ISO 8601; null: none is there. */
  copied_at: string | null;
}

/** What is known of copies on this node, whether a server runs here or not. */
export const newestCopy = async (db: Executor, dataDir: string): Promise<NewestCopy> => {
  const row = await db.selectFrom('settings').select('value').where('key', '=', 'backup.copy_url').executeTakeFirst();
  const to = row?.value ?? '';
  const newest = to === '' ? undefined : await createReceipts(dataDir).newest(to);
  return { to, copied_at: newest?.copied_at ?? null };
};
