import type { NotificationEvent } from '@sallyport/contract';
import type { StoredCertificate } from '../../certificates/store.ts';
import type { OrderWithSubject } from './store.ts';

/** What came of an attempt. */
export type Outcome =
  | { row: OrderWithSubject; result: 'issued' | 'renewed'; certificate: StoredCertificate }
  | { row: OrderWithSubject; result: 'failed'; issue: string; failures: number; nextAt: Date };

/** After the first one, and then about once a day: that is how far apart attempts are by then. */
const TOLD_FROM = 5;

/** What is told of it to whoever gets notifications; undefined: nothing. */
export const eventOf = (outcome: Outcome, now: Date): NotificationEvent | undefined => {
  const { uuid, name, names, is_placeholder, expires_at } = outcome.row;
  const timestamp = now.toISOString();
  if (outcome.result !== 'failed') {
    return {
      event_type: 'certificate_renewed',
      severity: 'info',
      timestamp,
      message: `The certificate ${name} was ${outcome.result}; it expires on ${outcome.certificate.expires_at}`,
      details: { certificate: uuid, names: outcome.certificate.domains, expires_at: outcome.certificate.expires_at },
    };
  }
  const { failures, issue, nextAt } = outcome;
  if (failures !== 1 && failures < TOLD_FROM) return undefined;
  const retry_at = nextAt.toISOString();
  const isThere = is_placeholder === 0;
  return {
    event_type: 'certificate_failed',
    severity: isThere && Date.parse(expires_at) > now.getTime() ? 'warn' : 'error',
    timestamp,
    message: `The certificate ${name} could not be ${isThere ? 'renewed' : 'had'}: ${issue}; it is tried again at ${retry_at}`,
    details: { certificate: uuid, names, ...(isThere ? { expires_at } : {}), retry_at },
  };
};
