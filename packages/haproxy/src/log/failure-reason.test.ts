import { expect, test } from 'vitest';
import { failureReason } from './failure-reason.ts';

const none = { termination: '--', failure: '-', tls: '-' };

test.each([
  ['SC--', 'the origin refuses connections'],
  ['sC--', 'no connection to the origin in time'],
  ['RC--', 'no resources left for a connection to the origin'],
  ['SH--', 'the origin hung up before it had answered'],
  ['sH--', 'the origin did not answer in time'],
  ['PH--', "the origin's answer is not valid HTTP"],
  ['SD--', 'the origin hung up in the middle of its answer'],
  ['sD--', 'the origin fell silent in the middle of its answer'],
  // What a client did is no failure of an origin.
  ['CD--', undefined],
  ['----', undefined],
  [undefined, undefined],
])('how a request ended says why it failed: %s', (termination, reason) => {
  expect(failureReason({ ...none, termination })).toBe(reason);
});

test('a handshake that failed says so, with what the TLS library says of it', () => {
  const failed = { ...none, termination: 'SC--', failure: 'SSL handshake failure' };
  const said = 'error:0A000086:SSL routines::certificate verify failed: too old';
  expect(failureReason({ ...failed, tls: said })).toBe(
    'TLS with the origin failed: certificate verify failed: too old',
  );
  for (const tls of ['-', '', undefined])
    expect(failureReason({ ...failed, tls })).toBe('TLS with the origin failed: SSL handshake failure');
  // Another failure of the connection.
  expect(failureReason({ ...failed, failure: 'Connection refused', tls: said })).toBe('the origin refuses connections');
});
