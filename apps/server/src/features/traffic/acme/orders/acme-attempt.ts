import type { AcmeClient } from '@sallyport/acme';
import type { StoredAccount } from '../accounts/store.ts';
import type { Steps } from './steps.ts';
import type { OrderWithSubject } from './store.ts';

/** An order that is under way: where it is, and the key whose CSR is sent. */
export interface UnderWay {
  url: string;
  keyPem: string;
}

/** What works at an order has. */
export interface AcmeAttempt {
  row: OrderWithSubject;
  account: StoredAccount;
  accountKeyPem: string;
  client: AcmeClient;
  steps: Steps;
  /** What was kept of the last attempt. */
  underWay: UnderWay | undefined;
  /** Keeps what is needed to take the order up again, before the authority is told of the key. */
  keep: (underWay: UnderWay) => Promise<void>;
  signal: AbortSignal;
}
