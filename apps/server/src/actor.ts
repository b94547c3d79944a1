import type { Executor } from './db/open.ts';

/** Who a request comes from, as far as its credentials tell. */
export type Identity =
  | { kind: 'anonymous' }
  | { kind: 'local' }
  | { kind: 'user'; id: number; email: string; role: 'admin' | 'user'; sessionId: string | null };

/** Who does something, for the audit trail. */
export interface Actor {
  identity: Identity;
  ip: string;
  userAgent: string;
}

/** One change, as services report it. */
export interface ChangeEntry {
  /** Resource and verb, e.g. `proxy_host.update`. */
  action: string;
  actor: Actor;
  /** Path of what was changed below the API root, e.g. `proxy-hosts/<uuid>`. */
  resource: string;
  before?: object | undefined;
  after?: object | undefined;
}

/** Writes a change down, in the transaction that makes it. */
export type RecordChange = (tx: Executor, entry: ChangeEntry) => Promise<void>;
