export interface IdempotencyKeyRow {
  /** Digest of the caller and the key. */
  id: string;
  /** The process that answers or answered. */
  owner: string;
  /** Path of what was made, below the API root: written by the transaction that makes it. */
  resource: string | null;
  /** 1: `answer_sealed` holds the answer. */
  answered: number;
  /** Digest of the request and, once there is one, the answer, sealed by `secrets/vault.ts`: answers hold tokens. */
  answer_sealed: string;
  created_at: string;
}

export interface IdempotencyTables {
  idempotency_keys: IdempotencyKeyRow;
}
