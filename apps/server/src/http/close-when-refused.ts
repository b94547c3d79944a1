import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { Policy } from './policy.ts';

const CHECK_INTERVAL_MS = 2_000;
/** RFC 6455, section 7.4.1: the peer violates our policy. */
const POLICY_VIOLATION = 1008;

/** Closes a WebSocket soon after its caller would no longer be let in by `policy`: signed out, disabled, demoted, expired. */
export const closeWhenRefused = (socket: WebSocket, request: FastifyRequest, policy: Policy): void => {
  const timer = setInterval(() => {
    request.checkPolicy(policy).catch(() => socket.close(POLICY_VIOLATION, 'the session or token has ended'));
  }, CHECK_INTERVAL_MS);
  socket.once('close', () => clearInterval(timer));
};
