import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AuditLogRow } from '../database/audit-tables.ts';

/** What the hash of an entry covers: everything but the hash. */
export type AuditRecord = Omit<AuditLogRow, 'hash'>;

/** What an empty chain continues from. */
export const GENESIS = '0'.repeat(64);

const mac = (key: string, parts: readonly (string | number)[]): string =>
  // JSON keeps the borders between fields: "ab","c" and "a","bc" differ.
  createHmac('sha256', key).update(JSON.stringify(parts)).digest('hex');

/** Hash of an entry that follows one with hash `previous`; hex. Without the key nobody can make a new chain that fits. */
export const hashEntry = (key: string, previous: string, entry: AuditRecord): string =>
  mac(key, [
    previous,
    entry.id,
    entry.timestamp,
    entry.action,
    entry.actor,
    entry.ip,
    entry.user_agent,
    entry.method,
    entry.path,
    entry.resource,
    entry.details,
  ]);

/** Vouches for one end of the chain: `head` (its newest entry) or `anchor` (the last one pruned). */
export const hashEnd = (key: string, end: 'head' | 'anchor', id: number, hash: string): string =>
  mac(key, [end, id, hash]);

/** Compares two hex hashes in constant time. */
export const isSameHash = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
