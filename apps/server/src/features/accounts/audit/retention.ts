import type { Audit } from '@sallyport/store/audit/service';
import type { Logger } from 'pino';
import { pruneRegularly } from '../../prune-regularly.ts';

export interface RetentionDeps {
  audit: Pick<Audit, 'prune'>;
  /** Days to keep entries; 0 = for ever. */
  retentionDays: () => Promise<number>;
  log: Logger;
}

/** Prunes the audit trail now and every hour. */
export const startRetention = ({ audit, retentionDays, log }: RetentionDeps): { stop(): Promise<void> } =>
  pruneRegularly({
    intervalMs: 3_600_000,
    prune: async () => audit.prune(await retentionDays()),
    says: { removed: 'old audit entries removed', failed: 'removing old audit entries failed' },
    log,
  });
