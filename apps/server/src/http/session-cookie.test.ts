import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { readSessionCookie, sessionCookie } from './session-cookie.ts';

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

test.each([
  [{ 'x-forwarded-proto': 'https' }, true],
  [{ origin: 'https://ui.example' }, true],
  [{ origin: 'http://ui.example' }, false],
  [{}, false],
])('keeps the cookie to TLS when the browser speaks it: %j', (headers, expected) => {
  const request = { headers, socket: {} } as IncomingMessage;
  const parts = sessionCookie(request, 'a.b.c', new Date(0)).split('; ');
  expect(parts).toEqual(expect.arrayContaining(['sallyport_session=a.b.c', 'Path=/', 'HttpOnly', 'SameSite=Strict']));
  expect(parts.includes('Secure')).toBe(expected);
});
