import type { IncomingMessage } from 'node:http';
import type { Identity, UserIdentity } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import { isSameOrigin } from './local-caller.ts';
import { clearedSessionCookie, readSessionCookie } from './session-cookie.ts';

/** Finds the user behind a session or API token; undefined when it is not (or no longer) valid. */
export type ResolveToken = (token: string) => UserIdentity | undefined | Promise<UserIdentity | undefined>;

/**
 * Finds out who a request comes from. Throws a 401 for a credential that is there but not valid. `isLocal` is asked only where
 * it decides: it may cost a look through all connections of the machine.
 */
export type Identify = (request: IncomingMessage, isLocal: () => boolean) => Promise<Identity>;

const ANONYMOUS: Identity = { kind: 'anonymous' };
const LOCAL: Identity = { kind: 'local' };
const MAX_TOKEN_LENGTH = 4_096;

const invalidToken = (headers: Record<string, string>) =>
  refuse.unauthorized('The session or token is not valid or has ended', { headers });

/** Reads are safe from other sites: they can't see the answer. An upgrade opens a channel that they could. */
const needsSameOrigin = ({ method, headers }: IncomingMessage): boolean =>
  headers.upgrade !== undefined || !(method === 'GET' || method === 'HEAD' || method === 'OPTIONS');

/**
 * The browser's own word counts for more than a comparison with `Host`, which a proxy in between may have rewritten.
 * Not for trusting the local host: there a rewritten `Host` has to show.
 */
const isOwnPage = (request: IncomingMessage): boolean =>
  request.headers['sec-fetch-site'] === 'same-origin' || isSameOrigin(request);

const refuseOtherSites = (request: IncomingMessage): void => {
  if (needsSameOrigin(request) && !isOwnPage(request)) throw refuse.forbidden('Cross-site request refused');
};

const bearerOf = (authorization: string): string | undefined => /^bearer +(\S+)$/i.exec(authorization)?.[1];

/**
 * Makes the function that every request's identity comes from (contract.md, Authentication): a bearer token before the
 * cookie, and without either the local host where the mode trusts it. A credential that is presented must be valid.
 */
export const createIdentify = (mode: 'local' | 'required' | 'open', resolve: ResolveToken): Identify => {
  const resolveOrRefuse = async (token: string | undefined, headers: Record<string, string>) => {
    const identity = token !== undefined && token.length <= MAX_TOKEN_LENGTH ? await resolve(token) : undefined;
    if (!identity) throw invalidToken(headers);
    return identity;
  };
  return async (request, isLocal) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      return resolveOrRefuse(bearerOf(authorization), { 'www-authenticate': 'Bearer error="invalid_token"' });
    }
    const cookie = readSessionCookie(request);
    if (cookie !== undefined) {
      // A browser sends the cookie whoever makes it ask: SameSite is its promise, this is ours.
      refuseOtherSites(request);
      return resolveOrRefuse(cookie, { 'set-cookie': clearedSessionCookie(request) });
    }
    // The network is trusted then, not every page that a browser in it shows.
    if (mode === 'open') refuseOtherSites(request);
    return mode === 'local' && isLocal() ? LOCAL : ANONYMOUS;
  };
};
