import type { Executor } from './database/open.ts';

/** An authenticated user, by session or by API token. */
export interface UserIdentity {
  kind: 'user';
  id: number;
  email: string;
  role: 'admin' | 'user';
  /** Null when the credential is an API token. */
  sessionId: string | null;
  /** Null when the credential is a session. */
  token: { id: number; name: string } | null;
  /** An administrator demands two-factor sign-in and this user has not set it up: nothing but that is allowed. */
  mustEnrolTotp: boolean;
}

/** Who a request comes from, as far as its credentials tell. `system` is a program of ours, never a request. */
export type Identity = { kind: 'anonymous' } | { kind: 'local' } | { kind: 'system'; name: string } | UserIdentity;

/** Who does something, for the audit trail. */
export interface Actor {
  identity: Identity;
  /** Address of the client, where the request came through proxies we believe. */
  ip: string;
  userAgent: string;
  method: string;
  /** Path without the query, which may hold a token. */
  path: string;
  /** Called on this very host (see `http/local-caller.ts`), whatever the credentials. */
  isLocal: boolean;
  /** Of the request, so that all that it changes is one batch; absent for programs of ours. */
  requestId?: string;
  /** Through our own proxy, and not directly. */
  isProxied?: boolean;
  /** The change goes back by itself unless it is confirmed; `revertsAt` is set once there is something to confirm. */
  confirm?: { withinMs: number; revertsAt?: string };
  /** The change in the history that this one takes back. */
  reverts?: number;
  /** Row of the request's `Idempotency-Key`; absent without one. */
  idempotencyId?: string;
}

/** The actor of what a program does by itself: a job (`certificate renewal`) or the command line (`cli root`). */
export const systemActor = (name: string): Actor => ({
  identity: { kind: 'system', name },
  ip: '',
  userAgent: '',
  method: '',
  path: '',
  isLocal: true,
});

/** Who it was, in the words of the audit trail and of the history. */
export const actorName = ({ identity }: Pick<Actor, 'identity'>): string => {
  switch (identity.kind) {
    case 'user':
      return identity.token ? `${identity.email} (token ${identity.token.name})` : identity.email;
    case 'system':
      return identity.name;
    case 'local':
    case 'anonymous':
      return identity.kind;
    default:
      return identity satisfies never;
  }
};

/** An object before and after a change, as the history keeps it to bring it back; one side is missing when it came or went. */
export interface KeptChange {
  /** Path below the API root by the uuid or key, which never name another object: `access-lists/<uuid>`. */
  resource: string;
  before?: object | undefined;
  after?: object | undefined;
  /** Fields that are secret: sealed in the store, and never shown. */
  secret?: readonly string[];
}

/** One change or event, as services report it. */
export interface ChangeEntry {
  /** Resource and verb, e.g. `proxy_host.update`. */
  action: string;
  actor: Actor;
  /** Path of what was changed below the API root, e.g. `proxy-hosts/<uuid>`. */
  resource: string;
  before?: object | undefined;
  after?: object | undefined;
  /** What of it can be taken back. */
  history?: readonly KeptChange[];
}

/** Writes a change down, in the transaction that makes it. */
export type RecordChange = (tx: Executor, entry: ChangeEntry) => Promise<void>;

/** Writes many changes of one actor down at once, in the transaction that makes them. */
export type RecordChanges = (tx: Executor, entries: readonly ChangeEntry[]) => Promise<void>;
