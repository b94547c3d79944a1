import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import { VERDICT_SECONDS_BOUNDS } from '@sallyport/contract';
import { gaugesOf } from '../system/index.ts';

/** What the suite counts, read when the metrics are asked for. */
export interface SecurityFigures {
  bans(): number;
  enforcement(): { applied: boolean; revision: number };
  notifications(): Record<'delivered' | 'failed' | 'dropped' | 'retried' | 'filtered' | 'queued', number>;
  logs(): { readers: number; cutOff: number; invalid: number };
  blocks(): { dropped: number };
  guards(): {
    access_denied: number;
    unjudged: number;
    dropped_messages: number;
    verdict_seconds: { sum: number; buckets: readonly number[] };
    revisions: ReadonlyMap<number, number>;
  };
}

/** Adds the security suite to the metrics. */
export const registerSecurityMetrics = (registry: Registry, figures: SecurityFigures): void => {
  const registers = [registry];
  const gauge = gaugesOf(registry);
  /** A counter whose value is kept elsewhere. */
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });

  gauge('sallyport_security_bans', 'Networks that are banned', figures.bans);
  gauge('sallyport_security_applied', 'Whether proxy and guards enforce what is configured', () =>
    figures.enforcement().applied ? 1 : 0,
  );
  gauge('sallyport_security_revision', 'Revision of the guard configuration', () => figures.enforcement().revision);
  gauge('sallyport_notifications_queued', 'Notifications that wait', () => figures.notifications().queued);
  counter(
    'sallyport_notifications_delivered_total',
    'Notifications delivered',
    () => figures.notifications().delivered,
  );
  counter('sallyport_notifications_failed_total', 'Notifications given up', () => figures.notifications().failed);
  counter(
    'sallyport_notifications_retried_total',
    'Attempts that were repeated',
    () => figures.notifications().retried,
  );
  counter(
    'sallyport_notifications_dropped_total',
    'Notifications dropped because too many waited',
    () => figures.notifications().dropped,
  );
  counter(
    'sallyport_notifications_filtered_total',
    'Events that the notification settings did not want',
    () => figures.notifications().filtered,
  );
  gauge('sallyport_log_readers', 'Readers of the live log', () => figures.logs().readers);
  counter(
    'sallyport_log_readers_cut_off_total',
    'Live log readers cut off for being slow',
    () => figures.logs().cutOff,
  );
  counter(
    'sallyport_log_lines_invalid_total',
    'Lines of guards that were not understood',
    () => figures.logs().invalid,
  );
  counter(
    'sallyport_blocks_dropped_total',
    'Blocked requests that were not kept because too many came at once',
    () => figures.blocks().dropped,
  );
  counter('sallyport_access_denied_total', 'Requests denied by access lists', () => figures.guards().access_denied);
  counter(
    'sallyport_unjudged_total',
    'Questions that a guard could not judge; another one may have',
    () => figures.guards().unjudged,
  );
  counter(
    'sallyport_guard_messages_dropped_total',
    'Messages that guards could not hand over',
    () => figures.guards().dropped_messages,
  );
  new Gauge({
    name: 'sallyport_guard_revision',
    help: 'Revision of the configuration that a guard serves',
    labelNames: ['worker'],
    registers,
    collect() {
      this.reset();
      for (const [worker, revision] of figures.guards().revisions) this.set({ worker: String(worker) }, revision);
    },
  });
  new Counter({
    name: 'sallyport_guard_verdict_seconds_bucket',
    help: 'Verdicts that took at most so long',
    labelNames: ['le'],
    registers,
    collect() {
      this.reset();
      let sum = 0;
      for (const [index, count] of figures.guards().verdict_seconds.buckets.entries()) {
        sum += count;
        this.inc({ le: String(VERDICT_SECONDS_BOUNDS[index] ?? '+Inf') }, sum);
      }
    },
  });
  counter('sallyport_guard_verdict_seconds_sum', 'Time spent on verdicts', () => figures.guards().verdict_seconds.sum);
  counter('sallyport_guard_verdict_seconds_count', 'Verdicts', () =>
    figures.guards().verdict_seconds.buckets.reduce((sum, count) => sum + count, 0),
  );
};
