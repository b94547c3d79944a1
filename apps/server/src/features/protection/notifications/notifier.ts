import { setTimeout as sleep } from 'node:timers/promises';
import { type EventType, isAtLeast, type NotificationEvent, type NotificationSettings } from '@sallyport/contract';
import type { Logger } from 'pino';
import type { Channel, Deliveries } from './deliveries.ts';
import { type DeliveryFailure, outcomeOf } from './delivery.ts';

/** What deliveries are made by, as configured at this moment. */
export interface DeliveryTargets {
  settings: NotificationSettings;
  /** Posts once; absent without a webhook URL. */
  post?: (event: NotificationEvent, signal: AbortSignal) => Promise<DeliveryFailure>;
  /** Mails once; absent without recipients. */
  mail?: (event: NotificationEvent) => Promise<DeliveryFailure>;
}

export interface NotifierDeps {
  /** Undefined: never configured. */
  targets: () => Promise<DeliveryTargets | undefined>;
  /** Where each attempt is taken down. */
  deliveries: Pick<Deliveries, 'begin'>;
  log: Logger;
  /** Pauses before the second and third attempt, in milliseconds. */
  backOffMs?: readonly number[];
  /** Events that may wait; more are dropped and counted (contract.md). */
  capacity?: number;
}

const DEFAULT_BACK_OFF_MS = [1_000, 5_000];
const DEFAULT_CAPACITY = 1_000;
/** Deliveries under way at once: one slow receiver must not hold the queue up for ten seconds an event. */
const WORKERS = 4;

const isClassOn = (settings: NotificationSettings, type: EventType): boolean => {
  switch (type) {
    case 'waf_block':
      return settings.notify_waf_blocks;
    case 'acl_denial':
      return settings.notify_acl_denials;
    case 'rate_limit_hit':
      return settings.notify_rate_limit_hits;
    case 'emergency_unproven':
    case 'backup_failed':
    case 'change_reverted':
    case 'certificate_expiring':
    case 'certificate_failed':
    case 'certificate_renewed':
    case 'certificate_revoked':
    case 'test':
      return true;
    default:
      return type satisfies never;
  }
};

/** Tells whether the settings want an event to be sent (spec, Outbound notification webhook, 1–3). */
export const isWanted = (settings: NotificationSettings, event: NotificationEvent): boolean =>
  settings.enabled && isAtLeast(event.severity, settings.min_log_level) && isClassOn(settings, event.event_type);

/** Sends events in the background: bounded queue, a few at a time, three tries each. */
export const createNotifier = ({
  targets,
  deliveries,
  log,
  backOffMs = DEFAULT_BACK_OFF_MS,
  capacity = DEFAULT_CAPACITY,
}: NotifierDeps) => {
  const queue: NotificationEvent[] = [];
  const counts = { delivered: 0, failed: 0, dropped: 0, retried: 0, filtered: 0 };
  const stopping = new AbortController();
  const workers = new Set<Promise<void>>();

  const attempt = async (
    channel: Channel,
    event: NotificationEvent,
    deliver: () => Promise<DeliveryFailure>,
  ): Promise<void> => {
    const takeDown = deliveries.begin(channel, event);
    for (let tries = 0; ; tries += 1) {
      const failure = await outcomeOf(deliver);
      const pause = backOffMs[tries];
      const isTriedAgain = failure?.isFinal === false && pause !== undefined && !stopping.signal.aborted;
      takeDown(failure, isTriedAgain);
      if (!failure) {
        counts.delivered += 1;
        return;
      }
      if (!isTriedAgain) {
        counts.failed += 1;
        log.warn({ channel, error: failure.error }, 'notification not delivered');
        return;
      }
      counts.retried += 1;
      await sleep(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  };

  const deliver = async (event: NotificationEvent): Promise<void> => {
    const current = await targets();
    if (!current || !isWanted(current.settings, event)) {
      counts.filtered += 1;
      return;
    }
    const { post, mail } = current;
    await Promise.all([
      post && attempt('webhook', event, () => post(event, stopping.signal)),
      mail && attempt('email', event, () => mail(event)),
    ]);
  };

  const work = async (): Promise<void> => {
    for (let event = queue.shift(); event && !stopping.signal.aborted; event = queue.shift()) {
      try {
        await deliver(event);
      } catch (err) {
        counts.failed += 1;
        log.error({ err }, 'notification could not be sent');
      }
    }
  };

  return {
    /** Takes an event in without waiting. */
    notify(event: NotificationEvent): void {
      if (stopping.signal.aborted) return;
      if (queue.length >= capacity) {
        counts.dropped += 1;
        return;
      }
      queue.push(event);
      if (workers.size < WORKERS) {
        const worker: Promise<void> = work().finally(() => workers.delete(worker));
        workers.add(worker);
      }
    },

    counts: (): Readonly<typeof counts> & { queued: number } => ({ ...counts, queued: queue.length }),

    /** Ends what is under way; what still waits is dropped and counted. */
    async stop(): Promise<void> {
      stopping.abort();
      counts.dropped += queue.length;
      queue.length = 0;
      await Promise.all(workers);
    },
  };
};
export type Notifier = ReturnType<typeof createNotifier>;
