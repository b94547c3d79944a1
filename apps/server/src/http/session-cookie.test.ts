import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { clearedSessionCookie, readSessionCookie, sessionCookie } from './session-cookie.ts';

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
  expect(readSessionCookie({ headers: { cookie }, socket: {} } as IncomingMessage)).toBe(expected);
});

const requestWith = (headers: Record<string, string>) => ({ headers, socket: {} }) as unknown as IncomingMessage;

test.each([
  [{ 'x-forwarded-proto': 'https' }, true],
  [{ origin: 'https://ui.example' }, true],
  [{ origin: 'http://ui.example' }, false],
  [{}, false],
])('keeps the cookie to TLS and to this host when the browser speaks TLS: %j', (headers, expected) => {
  const [pair, ...attributes] = sessionCookie(requestWith(headers), 'a.b.c', new Date(0)).split('; ');
  expect(pair).toBe(expected ? '__Host-sallyport_session=a.b.c' : 'sallyport_session=a.b.c');
  expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'HttpOnly', 'SameSite=Strict']));
  expect(attributes.includes('Secure')).toBe(expected);
});

test('takes over TLS no cookie that a site under the same domain could have set', () => {
  const tossed = 'sallyport_session=theirs';
  const own = '__Host-sallyport_session=own';
  const tls = { 'x-forwarded-proto': 'https' };
  expect(readSessionCookie(requestWith({ cookie: tossed, ...tls }))).toBeUndefined();
  expect(readSessionCookie(requestWith({ cookie: `${tossed}; ${own}`, ...tls }))).toBe('own');
  // A proxy that doesn't name the scheme: what the browser sends does.
  expect(readSessionCookie(requestWith({ cookie: `${tossed}; ${own}` }))).toBe('own');
  expect(clearedSessionCookie(requestWith({ cookie: own }))).toMatch(
    /^__Host-sallyport_session=; Max-Age=0;.*; Secure$/,
  );
});
