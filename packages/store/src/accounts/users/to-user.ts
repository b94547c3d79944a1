import type { Role, User, UserStatus } from '@sallyport/contract';
import type { StoredUser } from '../../database/account-tables.ts';

/** What of a user may leave the service. */
export const toUser = (row: StoredUser): User => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role as Role,
  status: row.status as UserStatus,
  totp_enabled: row.totp_enabled === 1,
  last_login: row.last_login,
  created_at: row.created_at,
  updated_at: row.updated_at,
});
