import type { Actor, Identity } from '@sallyport/store/actor';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Identify } from './identify.ts';
import { isLocalCaller } from './local-caller.ts';
import { isFromProxy } from './proxy-door.ts';

/**
 * Who may call a route (contract.md, Authentication):
 * `public` anybody · `account` a signed-in user, for what is their own · `member` any user, and local callers in mode
 * `local` · `sensitive` like member, but never a standard user · `administrator` an administrator's credential in every mode
 * · `granting` an administrator's session in every mode: what is granted there would outlive an API token's revocation.
 */
export type Policy = 'public' | 'account' | 'member' | 'sensitive' | 'administrator' | 'granting';

declare module 'fastify' {
  interface FastifyContextConfig {
    policy?: Policy;
  }
  interface FastifyInstance {
    /** `METHOD path policy` of every route, for who wants to check them all. */
    routePolicies: string[];
  }
  interface FastifyRequest {
    actor: Actor;
    /**
     * Asks again whether this request would be let through now, by its route's policy or a given one; rejects when not. For
     * connections that stay open.
     */
    checkPolicy: (policy?: Policy) => Promise<void>;
    /** Whether this caller may do what takes `policy`, where one route does more for some than for others. */
    allows: (policy: Policy) => boolean;
  }
}

export interface PolicyOptions {
  identify: Identify;
  /** The address of the client, where it came through proxies we believe. */
  clientAddress: (request: FastifyRequest['raw']) => string;
  /** Mode `open`: the main endpoints need no credential from anybody. */
  isOpen: boolean;
}

const isAdministrator = (identity: Identity): boolean => identity.kind === 'user' && identity.role === 'admin';

const isApiToken = (identity: Identity): boolean => identity.kind === 'user' && identity.sessionId === null;

const isAllowed = (policy: Policy, identity: Identity, isOpen: boolean): boolean => {
  switch (policy) {
    case 'public':
      return true;
    case 'account':
      return identity.kind === 'user';
    case 'member':
      return identity.kind !== 'anonymous' || isOpen;
    case 'sensitive':
      return identity.kind === 'user' ? identity.role === 'admin' : identity.kind === 'local' || isOpen;
    case 'administrator':
      return isAdministrator(identity);
    case 'granting':
      return isAdministrator(identity) && !isApiToken(identity);
    default:
      return policy satisfies never;
  }
};

const refusalOf = (policy: Policy, identity: Identity) => {
  if (policy === 'granting' && isAdministrator(identity)) {
    return refuse.forbidden('An API token can not grant rights that outlive it; sign in instead');
  }
  if (policy === 'administrator' || policy === 'granting') return refuse.forbidden('Admin access required');
  return identity.kind === 'user'
    ? refuse.forbidden('Admin access required')
    : refuse.unauthorized('Authentication required', { headers: { 'www-authenticate': 'Bearer' } });
};

/** Only one's own account, where two-factor sign-in is set up, is open to who still has to do that. */
const checkEnrolment = (policy: Policy, identity: Identity): void => {
  if (identity.kind !== 'user' || !identity.mustEnrolTotp || policy === 'account' || policy === 'public') return;
  throw refuse.forbidden('Two-factor sign-in must be set up first', { details: 'totp_enrolment_required' });
};

const ANONYMOUS: Identity = { kind: 'anonymous' };

/** Pages of the API's own documentation. */
export const DOCS_PREFIX = '/api/docs';
/** Files of the web interface. */
export const ASSETS_PREFIX = '/assets/';
/** Routes that come from a library, which knows no policies: what they give out is no secret. */
const LIBRARIES = [DOCS_PREFIX, ASSETS_PREFIX];

/** The one place every route passes. A route without a policy stops the start: forgetting one must not open a door. */
export const registerPolicy = (app: FastifyInstance, { identify, clientAddress, isOpen }: PolicyOptions): void => {
  /** On public routes a credential that ended must not stand in the way of signing in anew. */
  const identifyFor = async (policy: Policy, request: FastifyRequest, isLocal: () => boolean): Promise<Identity> => {
    try {
      return await identify(request.raw, isLocal);
    } catch (error) {
      if (policy === 'public' && error instanceof Refusal) return ANONYMOUS;
      throw error;
    }
  };

  const routes: string[] = [];
  app.decorate('routePolicies', routes);
  app.decorateRequest('actor');
  app.decorateRequest('checkPolicy');
  app.decorateRequest('allows');
  app.addHook('onRoute', (route) => {
    if (LIBRARIES.some((prefix) => route.url.startsWith(prefix))) route.config = { ...route.config, policy: 'public' };
    if (!route.config?.policy) throw new Error(`route ${String(route.method)} ${route.url} declares no policy`);
    routes.push(`${String(route.method)} ${route.url} ${route.config.policy}`);
  });
  app.addHook('onRequest', async (request, reply) => {
    const { url = '', config } = request.routeOptions;
    const { policy } = config;
    // Only the not-found handler has no policy; it answers without doing anything.
    if (!policy) return;
    // Answers are for who asked, now; some hold what is shown only once.
    if (url.startsWith('/api/') && !url.startsWith(DOCS_PREFIX)) reply.header('cache-control', 'no-store');
    // Asked by few, once: who signs in or presents nothing. The answer stays, also when the caller has gone meanwhile.
    let local: boolean | undefined;
    const isLocal = () => {
      local ??= isLocalCaller(request.raw);
      return local;
    };
    const check = async (wanted: Policy): Promise<Identity> => {
      const identity = await identifyFor(wanted, request, isLocal);
      if (!isAllowed(wanted, identity, isOpen)) throw refusalOf(wanted, identity);
      checkEnrolment(wanted, identity);
      return identity;
    };
    const identity = await check(policy);
    request.checkPolicy = async (wanted = policy) => void (await check(wanted));
    request.allows = (other) =>
      isAllowed(other, identity, isOpen) && !(identity.kind === 'user' && identity.mustEnrolTotp);
    request.actor = {
      identity,
      ip: clientAddress(request.raw),
      userAgent: request.headers['user-agent'] ?? '',
      method: request.method,
      path: request.url.split('?', 1)[0] ?? '',
      get isLocal() {
        return isLocal();
      },
      requestId: request.id,
      isProxied: isFromProxy(request.raw.socket),
    };
  });
};
