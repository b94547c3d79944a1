import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { readSessionCookie } from './session-cookie.ts';

test.each([
  ['sallyport_session=a.b-c_d', 'a.b-c_d'],
  ['x=1; sallyport_session=abc; y=2', 'abc'],
  ['x=1;sallyport_session=abc', 'abc'],
  ['sallyport_session="abc"', 'abc'],
  ['sallyport_session=abc; sallyport_session=def', 'abc'],
  ['xsallyport_session=abc', undefined],
  ['x=sallyport_session=abc', undefined],
  ['sallyport_session=', undefined],
  ['sallyport_session=a b', undefined],
  ['sallyport_session=a,b', undefined],
  ['', undefined],
  [undefined, undefined],
])('reads %j as %j', (cookie, expected) => {
  expect(readSessionCookie({ headers: { cookie } } as IncomingMessage)).toBe(expected);
});
