import { expect, test } from 'vitest';
import { readHaproxyLine } from './haproxy-output.ts';

const request = {
  time: '2026-11-21T09:05:00Z',
  client: '192.0.2.7',
  reference: '-',
  status: 200,
  termination: 'PR',
  refused: '',
  host: 'app.test',
  method: '',
  uri: '',
  origin: '-:-',
  duration_ms: 3,
};
const read = (changes: object) => readHaproxyLine(JSON.stringify({ ...request, ...changes }), 'stdout');

test('tells who was refused what, and why', () => {
  expect(
    read({ status: 403, refused: 'decision', reference: 'a-b-c', method: 'GET', uri: '/x?token=t0p&a=1' }),
  ).toEqual({
    level: 'info',
    message: 'request refused',
    fields: {
      client: '192.0.2.7',
      reference: 'a-b-c',
      status: 403,
      refused: 'decision',
      host: 'app.test',
      method: 'GET',
      uri: '/x?token=***&a=1',
      duration_ms: 3,
    },
  });
});

test('warns of requests that failed, and keeps quiet about names that nobody serves', () => {
  expect(read({ status: 503, termination: 'SC', origin: '127.0.0.1:9000' })).toMatchObject({
    level: 'warn',
    message: 'request failed',
    fields: { status: 503, termination: 'SC', origin: '127.0.0.1:9000', reason: 'the origin refuses connections' },
  });
  expect(read({ status: 404 })).toMatchObject({ level: 'debug' });
});

test.each([
  [
    'SC--',
    'SSL handshake failure',
    'error:0A000086:SSL routines::certificate verify failed',
    'TLS with the origin failed: certificate verify failed',
  ],
  [
    'SC--',
    'Connection closed during SSL handshake',
    '-',
    'TLS with the origin failed: Connection closed during SSL handshake',
  ],
  ['sC--', '-', '-', 'no connection to the origin in time'],
  ['SH--', 'Success', '-', 'the origin hung up before it had answered'],
  ['PH--', 'Success', '-', "the origin's answer is not valid HTTP"],
  ['sH--', 'Success', '-', 'the origin did not answer in time'],
])('a request that failed by %s, %s, %s is told with: %s', (termination, failure, tls, reason) => {
  const { fields } = read({ status: 503, termination, failure, tls });
  expect(fields).toMatchObject({ reason, termination });
  expect(fields).not.toHaveProperty('tls');
});

test.each([
  ['[NOTICE]   (12) : New worker (14) forked', 'debug', 'New worker (14) forked'],
  ["[WARNING]  (12) : Proxy 'proxy': something", 'warn', "Proxy 'proxy': something"],
  [
    '[ALERT]    (12) : Current worker (14) exited with code 137 (Killed)',
    'error',
    'Current worker (14) exited with code 137 (Killed)',
  ],
  [
    "[ALERT]    (12) : backend 'guards_even' has no server available!",
    'debug',
    "backend 'guards_even' has no server available!",
  ],
  [
    '[WARNING]  (12) : Backup Server guards_even/guard-1 is DOWN, reason: Layer4 connection problem, check duration: 0ms.',
    'debug',
    'Backup Server guards_even/guard-1 is DOWN, reason: Layer4 connection problem, check duration: 0ms.',
  ],
  ['[WARNING]  (12) : Backup Server of_a_site/origin is DOWN.', 'warn', 'Backup Server of_a_site/origin is DOWN.'],
  ['FATAL: bug condition "x" matched at src/mux_h1.c:1', 'warn', 'FATAL: bug condition "x" matched at src/mux_h1.c:1'],
])('takes %s as %s', (line, level, message) => {
  expect(readHaproxyLine(line, 'stderr')).toEqual({ level, message });
});

test('takes a request line that was cut as it is', () => {
  expect(readHaproxyLine('{"time":"2026', 'stdout')).toEqual({ level: 'debug', message: '{"time":"2026' });
});
