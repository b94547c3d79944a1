import type { Generated } from 'kysely';

type IsoTime = string;

/** One change of one object. */
export interface HistoryRow {
  id: Generated<number>;
  /** Of all changes that one request made. */
  batch: string;
  /** Path below the API root, by what never names another object: `access-lists/<uuid>`, `settings/<key>`. */
  resource: string;
  action: string;
  actor: string;
  created_at: IsoTime;
  /** The change that this one took back. */
  reverts: number | null;
  /** Size of the three texts below. */
  bytes: number;
  /** JSON of the fields that the change made different, as they were; null when there was no such object. */
  before_state: string | null;
  /** The same as they became, long values by their digest; null when the object went. */
  after_state: string | null;
  /** What of both is secret, sealed by `secrets/vault.ts`; null when nothing is. */
  secrets_sealed: string | null;
}

/** A change that goes back by itself unless it is confirmed in time. */
export interface ConfirmationRow {
  /** The batch of its rows in the history. */
  id: string;
  actor: string;
  /** Who may confirm it, and by which way: see `ownerOf` and `wayOf`. */
  owner: string;
  way: string;
  created_at: IsoTime;
  reverts_at: IsoTime;
  /** How often it was tried to take it back. */
  attempts: number;
  /** Why that failed the last time. */
  issue: string | null;
}

export interface HistoryTables {
  confirmations: ConfirmationRow;
  history: HistoryRow;
}
