import { createHash, timingSafeEqual } from 'node:crypto';
import { type Cidr, cidrSet } from '@sallyport/deployment/cidr';
import { createAttempts } from './attempts.ts';

export interface DoorOptions {
  /** SALLYPORT_EMERGENCY_TOKEN; undefined: nobody gets in. */
  token: string | undefined;
  /** Addresses that may try at all. */
  managementCidrs: readonly Cidr[];
  /** Asked for besides, at the second listener. */
  basicAuth?: { user: string; password: string } | undefined;
  now?: () => number;
}

/** What a caller shows at the door. */
export interface Caller {
  /** The true peer: never what a client says of itself. Empty when it is not known, which refuses. */
  address: string;
  /** The header `X-Emergency-Token`. */
  token: string | undefined;
  /** The header `Authorization`. */
  authorization?: string | undefined;
}

export type Decision =
  | { isOpen: true }
  | {
      isOpen: false;
      status: 401 | 403 | 429 | 501;
      /** For the caller. */
      error: string;
      /** For the audit trail; undefined when it is one of many that were written down already. */
      reason: string | undefined;
      headers: Record<string, string>;
    };

/** Whether two texts are equal, in a time that tells nothing about either. */
const isSame = (given: string, expected: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text, 'utf8').digest();
  return timingSafeEqual(digest(given), digest(expected));
};

const closed = (status: 401 | 403 | 429 | 501, error: string, reason?: string, headers: Record<string, string> = {}) =>
  ({ isOpen: false, status, error, reason, headers }) as const;

/** Makes the function that decides who may reset (spec, Authentication 7 and 8); it counts every attempt. */
export const createDoor = ({ token, managementCidrs, basicAuth, now }: DoorOptions) => {
  const isManagement = cidrSet(managementCidrs);
  const attempt = createAttempts(now);
  const expectedBasic =
    basicAuth && `Basic ${Buffer.from(`${basicAuth.user}:${basicAuth.password}`, 'utf8').toString('base64')}`;

  return (caller: Caller): Decision => {
    if (token === undefined) {
      return closed(501, 'Emergency reset is off: SALLYPORT_EMERGENCY_TOKEN is not set');
    }
    const { retryAfter, isFirstRefusal } = attempt(caller.address);
    if (retryAfter !== undefined) {
      const reason = isFirstRefusal ? 'too many attempts' : undefined;
      return closed(429, `Too many attempts; try again in ${retryAfter} seconds`, reason, {
        'retry-after': String(retryAfter),
      });
    }
    if (!isManagement(caller.address)) {
      return closed(403, 'Emergency reset is not allowed from this address', 'address outside the management ranges');
    }
    if (expectedBasic !== undefined && !isSame(caller.authorization ?? '', expectedBasic)) {
      const headers = { 'www-authenticate': 'Basic realm="Sallyport emergency", charset="UTF-8"' };
      return closed(401, 'User and password of the emergency server are required', 'wrong user or password', headers);
    }
    if (!isSame(caller.token ?? '', token)) {
      return closed(401, 'A valid emergency token is required', caller.token ? 'wrong token' : 'no token');
    }
    return { isOpen: true };
  };
};
export type Door = ReturnType<typeof createDoor>;
