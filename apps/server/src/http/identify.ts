import type { FastifyRequest } from 'fastify';
import type { Identity } from '../actor.ts';
import { isLocalCaller } from './local-caller.ts';

const ANONYMOUS: Identity = { kind: 'anonymous' };
const LOCAL: Identity = { kind: 'local' };

/** Finds out who a request comes from when no credential is involved: in mode `local` the local host is trusted. */
export const identifyCaller =
  (mode: 'local' | 'required' | 'open') =>
  (request: FastifyRequest): Identity =>
    mode === 'local' && isLocalCaller(request.raw) ? LOCAL : ANONYMOUS;
