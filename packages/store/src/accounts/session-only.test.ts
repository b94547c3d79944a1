import { expect, test } from 'vitest';
import { type Actor, type Identity, systemActor } from '../actor.ts';
import { refuseApiToken, requireSession } from './session-only.ts';

const by = (identity: Identity): Actor => ({ ...systemActor('test'), identity });
const user = { ...({ kind: 'user', id: 7, email: 'ann@example.com', role: 'admin' } as const), mustEnrolTotp: false };
const session = by({ ...user, sessionId: 's', token: null });
const token = by({ ...user, sessionId: null, token: { id: 1, name: 'deploy' } });
const here = by({ kind: 'local' });

test('what would outlive an API token takes a session', () => {
  expect(requireSession(session)).toEqual({ ...user, sessionId: 's', token: null });
  expect(() => requireSession(token)).toThrow(expect.objectContaining({ status: 403 }));
  for (const none of [here, by({ kind: 'anonymous' }), by({ kind: 'system', name: 'x' })]) {
    expect(() => requireSession(none)).toThrow(expect.objectContaining({ status: 401 }));
  }
});

test('or anybody but an API token', () => {
  expect(() => refuseApiToken(token)).toThrow(expect.objectContaining({ status: 403 }));
  for (const other of [session, here, by({ kind: 'system', name: 'x' })])
    expect(() => refuseApiToken(other)).not.toThrow();
});
