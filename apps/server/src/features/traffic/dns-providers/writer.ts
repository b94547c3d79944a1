import type { DnsProviderAccess } from './access.ts';

/** What a CA wants to find in DNS before it believes that a name is ours (RFC 8555, section 8.4). */
export interface DnsChallenge {
  /** The name without `*.`; the record lies at `_acme-challenge.` before it, or where a CNAME there leads. */
  domain: string;
  /** As the CA gave it. */
  token: string;
  /** Of the TXT record: of the token and the account's key. */
  value: string;
}

export interface DnsWriteContext {
  /** Private key of the account that the challenges are of, PEM. */
  accountKeyPem: string;
  signal: AbortSignal;
  /** How long the zone's servers may take to show the records. Default 5 minutes, or what the provider says. */
  waitMs?: number;
}

export interface OpenRecords {
  /** Takes the records away. Rejects with a `DnsWriteFailed` when they could not be. */
  close(): Promise<void>;
}

export interface DnsRecordWriter {
  /**
   * Parts challenges into those that can be open at a time: some providers hold one record at a name only, or write
   * one at a time. Open, prove and close one part after the other. Rejects with a `DnsWriteFailed`.
   */
  rounds(provider: DnsProviderAccess, challenges: readonly DnsChallenge[]): Promise<DnsChallenge[][]>;
  /**
   * Sets the TXT records of challenges and waits until the servers of their zones show them. Rejects with a
   * `DnsWriteFailed` that says in plain words why not; nothing of it is left then, as far as it can be taken away.
   */
  open(
    provider: DnsProviderAccess,
    challenges: readonly DnsChallenge[],
    context: DnsWriteContext,
  ): Promise<OpenRecords>;
}

/** A record could not be written, or taken away. Its message is for the operator's eyes: bounded, without secrets. */
export class DnsWriteFailed extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DnsWriteFailed';
  }
}

/**
 * Takes away what was set before something failed; what that was is what is told. Whoever gave up does not wait for it: what runs goes
 * on by itself.
 */
export const undo = async ({ close }: OpenRecords, signal: AbortSignal): Promise<void> => {
  const closing = close().catch(() => {});
  if (!signal.aborted) await closing;
};

/** Throws what went wrong as a `DnsWriteFailed`. */
export const inWords = (error: unknown): never => {
  throw error instanceof DnsWriteFailed ? error : new DnsWriteFailed((error as Error).message, error);
};
