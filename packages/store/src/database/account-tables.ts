import type { Generated, Selectable } from 'kysely';

type Flag = number;
type IsoTime = string;

export interface UserRow {
  id: Generated<number>;
  /** Normalised; unique. */
  email: string;
  name: string;
  role: string;
  status: string;
  /** argon2id in PHC format; null while pending. */
  password_hash: string | null;
  /** Secret of the authenticator app, sealed; counts only when `totp_enabled`. */
  totp_sealed: string | null;
  totp_enabled: Flag;
  /** Last time step a code was accepted for, so that none is accepted twice (RFC 6238, section 5.2). */
  totp_last_step: number;
  last_login: IsoTime | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** A user as stored, with hashes and sealed secrets. */
export type StoredUser = Selectable<UserRow>;

export interface SessionRow {
  /** UUID, the `sid` claim. */
  id: string;
  user_id: number;
  /** Names the key that signed it: sessions of another key can't be used and aren't listed. */
  key_id: string;
  ip: string;
  user_agent: string;
  created_at: IsoTime;
  last_seen_at: IsoTime;
  expires_at: IsoTime;
}

export interface RecoveryCodeRow {
  user_id: number;
  code_hash: string;
}

export interface InviteRow {
  id: Generated<number>;
  user_id: number;
  token_hash: string;
  created_at: IsoTime;
  expires_at: IsoTime;
  used_at: IsoTime | null;
}

export interface ApiTokenRow {
  id: Generated<number>;
  user_id: number;
  name: string;
  role: string;
  token_hash: string;
  hint: string;
  created_at: IsoTime;
  expires_at: IsoTime | null;
  last_used_at: IsoTime | null;
}

export interface AccountTables {
  users: UserRow;
  sessions: SessionRow;
  recovery_codes: RecoveryCodeRow;
  invites: InviteRow;
  api_tokens: ApiTokenRow;
}
