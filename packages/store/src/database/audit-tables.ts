type IsoTime = string;

export interface AuditLogRow {
  /** Without gaps: one more than the entry before. */
  id: number;
  timestamp: IsoTime;
  action: string;
  actor: string;
  ip: string;
  user_agent: string;
  method: string;
  path: string;
  resource: string;
  /** JSON. */
  details: string;
  /** Keyed hash over this entry and the hash before it, hex. */
  hash: string;
}

/** One row. Its lock puts the entries of concurrent transactions in one order. */
export interface AuditChainRow {
  id: number;
  /** Key of the hashes, sealed; empty before the first entry. */
  key_sealed: string;
  /** Newest entry: without it, cutting off the end would not show. */
  head_id: number;
  head_hash: string;
  head_mac: string;
  /** Last entry that was pruned: what is left continues from here. */
  anchor_id: number;
  anchor_hash: string;
  anchor_mac: string;
}

export interface AuditTables {
  audit_logs: AuditLogRow;
  audit_chain: AuditChainRow;
}
