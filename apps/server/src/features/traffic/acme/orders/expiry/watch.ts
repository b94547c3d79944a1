import type { NotificationEvent } from '@sallyport/contract';
import type { Logger } from 'pino';
import { repeat } from '../../../../../dataplane/repeat.ts';
import type { Expiring, ExpiryStore } from './store.ts';
import { thresholdAt } from './thresholds.ts';

export interface ExpiryDeps {
  store: ExpiryStore;
  /** Told to the live log and to whoever gets notifications. */
  tell: (event: NotificationEvent) => void;
  clock: () => Date;
  log: Logger;
}

const DAY_MS = 86_400_000;
const LOOK_MS = 10 * 60_000;
const MOST_BEFORE_MS = 15 * DAY_MS;

const inWords = (leftMs: number): string => {
  if (leftMs <= 0) return 'has expired';
  const hours = Math.floor(leftMs / 3_600_000);
  if (hours < 48) return `expires in ${hours} hours`;
  return `expires in ${Math.floor(hours / 24)} days`;
};

const eventOf = (certificate: Expiring, now: Date): NotificationEvent => {
  const { uuid, name, domains, expires_at, issue, next_attempt_at } = certificate;
  const leftMs = Date.parse(expires_at) - now.getTime();
  const why = issue === null ? '' : `; it could not be renewed: ${issue}`;
  const next =
    next_attempt_at === null ? '; nobody renews it' : `; it is renewed, or tried for again, at ${next_attempt_at}`;
  return {
    event_type: 'certificate_expiring',
    severity: leftMs <= DAY_MS ? 'error' : 'warn',
    timestamp: now.toISOString(),
    message: `The certificate ${name} ${inWords(leftMs)}${why}${next}`,
    details: { certificate: uuid, names: domains, expires_at, retry_at: next_attempt_at },
  };
};

/** Tells of certificates whose end comes near, each moment once, whatever node or process looks. */
export const createExpiryWatch = ({ store, tell, clock, log }: ExpiryDeps) => {
  const look = async (): Promise<void> => {
    const now = clock();
    for (const certificate of await store.before(new Date(now.getTime() + MOST_BEFORE_MS).toISOString())) {
      const lifetime = { notBefore: new Date(certificate.not_before), notAfter: new Date(certificate.expires_at) };
      const threshold = thresholdAt(lifetime, now);
      if (threshold === undefined) continue;
      const told = `${certificate.expires_at} ${threshold}`;
      if (told !== certificate.expiry_told && (await store.note(certificate, told))) tell(eventOf(certificate, now));
    }
  };

  return {
    look,

    /** Looks now and then until stopped. */
    start(): { stop(): Promise<void> } {
      const looking = look().catch((err: unknown) =>
        log.error({ err }, 'the expiry of certificates could not be looked at'),
      );
      const repeating = repeat('look at the expiry of certificates', LOOK_MS, look, log);
      return {
        async stop() {
          await repeating.stop();
          await looking;
        },
      };
    },
  };
};
