import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import type { ShelvedBackup } from '@sallyport/contract';

/** Adds what tells whether backups are made; `newestRead` is asked when the metrics are. */
export const registerBackupMetrics = (registry: Registry, newestRead: () => Promise<ShelvedBackup | undefined>) => {
  const registers = [registry];
  new Gauge({
    name: 'sallyport_backup_newest_timestamp_seconds',
    help: 'When the newest backup made here was made that was read through without a fault; 0: there is none',
    registers,
    async collect() {
      // A directory that can't be read must not take all other metrics with it: then there is none to rely on.
      const newest = await newestRead().catch(() => undefined);
      this.set(newest ? Date.parse(newest.created_at) / 1_000 : 0);
    },
  });
  return {
    failed: new Counter({
      name: 'sallyport_backup_failures_total',
      help: 'Scheduled backups that could not be made',
      registers,
    }),
    copyFailed: new Counter({
      name: 'sallyport_backup_copy_failures_total',
      help: 'Attempts to copy a backup elsewhere that failed',
      registers,
    }),
  };
};
