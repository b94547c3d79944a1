import type { Actor, UserIdentity } from '../actor.ts';
import { refuse } from '../errors.ts';

/** Throws a 403 for an API token: what it would grant or open outlives its own revocation. */
export const refuseApiToken = ({ identity }: Actor): void => {
  if (identity.kind === 'user' && identity.sessionId === null) {
    throw refuse.forbidden('An API token can not do this; sign in instead');
  }
};

/** The user of a signed-in session. Throws a 401 without one, a 403 for an API token: it must not outlive itself by making more. */
export const requireSession = ({ identity }: Actor): UserIdentity & { sessionId: string } => {
  if (identity.kind !== 'user') throw refuse.unauthorized('Authentication required');
  const { sessionId } = identity;
  if (sessionId === null) throw refuse.forbidden('An API token can not do this; sign in instead');
  return { ...identity, sessionId };
};
