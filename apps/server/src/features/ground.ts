import type { RecordChange, RecordChanges } from '@sallyport/store/actor';
import type { Audit } from '@sallyport/store/audit/service';
import type { Database } from '@sallyport/store/database/open';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';

/** What every neighbourhood of features stands on. */
export interface Ground {
  dataDir: string;
  database: Database;
  vault: Vault;
  audit: Audit;
  /** Writes a change down, in the transaction that makes it. */
  record: RecordChange;
  /** The same for many at once. */
  recordMany: RecordChanges;
  clock: () => Date;
  log: Logger;
}
