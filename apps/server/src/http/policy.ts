import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor, Identity } from '../actor.ts';
import { refuse } from '../errors.ts';

/**
 * Who may call a route (contract.md, Authentication):
 * `public` anybody · `member` any user, and local callers in mode `local` · `sensitive` like member, but never a
 * standard user · `administrator` an administrator's credential in every mode.
 */
export type Policy = 'public' | 'member' | 'sensitive' | 'administrator';

/** Finds out who a request comes from. Throws a 401 for a credential that is there but not valid. */
export type Identify = (request: FastifyRequest) => Promise<Identity> | Identity;

declare module 'fastify' {
  interface FastifyContextConfig {
    policy?: Policy;
  }
  interface FastifyRequest {
    actor: Actor;
  }
}

const isAllowed = (policy: Policy, identity: Identity, isOpen: boolean): boolean => {
  switch (policy) {
    case 'public':
      return true;
    case 'member':
      return identity.kind !== 'anonymous' || isOpen;
    case 'sensitive':
      return identity.kind === 'user' ? identity.role === 'admin' : identity.kind === 'local' || isOpen;
    case 'administrator':
      return identity.kind === 'user' && identity.role === 'admin';
    default:
      return policy satisfies never;
  }
};

const refusalOf = (policy: Policy, identity: Identity) => {
  if (policy === 'administrator') return refuse.forbidden('Admin access required');
  return identity.kind === 'user'
    ? refuse.forbidden('Admin access required')
    : refuse.unauthorized('Authentication required', { headers: { 'www-authenticate': 'Bearer' } });
};

/** Pages of the API's own documentation; their routes come from a library that knows no policies. */
export const DOCS_PREFIX = '/api/docs';

/** The one place every route passes. A route without a policy stops the start: forgetting one must not open a door. */
export const registerPolicy = (app: FastifyInstance, options: { identify: Identify; isOpen: boolean }): void => {
  app.decorateRequest('actor');
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(DOCS_PREFIX)) route.config = { ...route.config, policy: 'public' };
    if (!route.config?.policy) throw new Error(`route ${String(route.method)} ${route.url} declares no policy`);
  });
  app.addHook('onRequest', async (request) => {
    const policy = request.routeOptions.config.policy;
    // Only the not-found handler has no policy; it answers without doing anything.
    if (!policy) return;
    const identity = await options.identify(request);
    request.actor = { identity, ip: request.ip, userAgent: request.headers['user-agent'] ?? '' };
    if (!isAllowed(policy, identity, options.isOpen)) throw refusalOf(policy, identity);
  });
};
