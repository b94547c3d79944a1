import { expect, test } from 'vitest';
import { type Compared, compareSides, haveOtherBodies } from './compare.ts';
import type { Answered, Shown, Side } from './side.ts';

const shown = (fields: Partial<Shown> = {}): Shown => ({
  names: 'a.example.com',
  issuer: 'CN=An Authority',
  until: '2027-01-01',
  fingerprint: 'AA',
  isForName: true,
  isDefault: false,
  ...fields,
});

const answered = (fields: Partial<Answered> = {}): Answered => ({
  status: 200,
  headStatus: fields.status ?? 200,
  location: '',
  contentType: 'text/html',
  encoding: '',
  hsts: '',
  cookies: '',
  digest: 'd',
  reference: '',
  certificate: undefined,
  offersHttp2: false,
  ...fields,
});

const told = (before: Side, now: Side, more: Partial<Compared> = {}): string[] =>
  compareSides({
    scheme: 'https',
    name: 'a.example.com',
    host: { enabled: true, ssl_forced: false },
    before,
    now,
    ...more,
  }).map(({ field, message }) => `${field}: ${message}`);

const to = (location: string, status = 301) => answered({ status, location });

test('the same is no difference, and neither is what only looks otherwise', () => {
  expect(told(answered(), answered())).toEqual([]);
  expect(told(to('https://a.example.com/', 301), to('https://a.example.com/', 308))).toEqual([]);
  expect(told(to('/x', 302), to('/x', 303))).toEqual([]);
  expect(told({ silent: 'connection refused' }, answered())).toEqual([]);
  expect(told({ silent: 'connection refused' }, { silent: 'no answer' })).toEqual([]);
  // HSTS says nothing over plain HTTP, and HTTP/2 in addition is no loss.
  expect(told(answered({ hsts: 'max-age=1' }), answered(), { scheme: 'http' })).toEqual([]);
  const certificate = shown();
  expect(told(answered({ certificate }), answered({ certificate, offersHttp2: true }))).toEqual([]);
});

test('another status is explained by what is known here, and nothing that follows of it is listed', () => {
  const here = answered({ status: 404, reference: 'r-1', contentType: 'application/json', cookies: 'sid' });
  expect(told(answered(), here, { host: undefined })).toEqual(['status: the name belongs to no proxy host any more']);
  expect(told(answered(), here, { host: { enabled: false, ssl_forced: false } })).toEqual([
    expect.stringContaining('switched off here'),
  ]);
  expect(told(answered(), answered({ status: 403, reference: 'r-1' }))).toEqual([
    expect.stringContaining('GET /security/blocks/r-1'),
  ]);
  expect(told(answered(), answered({ status: 503, reference: 'r-1' }))).toEqual([
    expect.stringContaining('is the origin reachable'),
  ]);
  expect(told(answered(), answered({ status: 429, reference: 'r-1' }))).toEqual([
    expect.stringContaining('rate limit'),
  ]);
  // The origin's own refusal has no reference.
  expect(told(answered(), answered({ status: 403 }))).toEqual([expect.stringContaining('answers otherwise')]);
  expect(told(answered({ status: 401 }), answered())).toEqual([
    expect.stringContaining('give the host an access list'),
  ]);
  expect(told(answered(), { silent: 'connection refused' })).toEqual([
    expect.stringContaining('nothing answers here (connection refused)'),
  ]);
});

test('redirects to HTTPS are told by the setting that makes them', () => {
  const redirect = to('https://a.example.com/', 308);
  const plain = { scheme: 'http' } as const;
  expect(told(redirect, answered(), plain)).toEqual([expect.stringContaining('set ssl_forced')]);
  expect(told(answered(), redirect, { ...plain, host: { enabled: true, ssl_forced: true } })).toEqual([
    expect.stringContaining('unset ssl_forced'),
  ]);
  expect(told(to('https://a.example.com/'), to('https://b.example.com/'), plain)).toEqual([
    'location: the redirect leads elsewhere',
  ]);
});

test('headers and HEAD, one by one', () => {
  const before = answered({ encoding: 'gzip', hsts: 'max-age=1', cookies: 'sid' });
  const now = answered({ contentType: 'text/plain', headStatus: 405 });
  expect(told(before, now).map((line) => line.split(':')[0])).toEqual([
    'status',
    'content_type',
    'content_encoding',
    'cookies',
    'hsts',
  ]);
  expect(told(answered(), answered({ hsts: 'max-age=1' }))).toEqual([expect.stringContaining('unset hsts_enabled')]);
});

test('certificates: what the old proxy had for the name and is missing here', () => {
  const before = answered({ certificate: shown(), offersHttp2: true });
  const having = (fields: Partial<Shown>) => answered({ certificate: shown(fields), offersHttp2: true });
  expect(told(before, having({ fingerprint: 'BB', isForName: false, isDefault: true }))).toEqual([
    'certificate: no certificate for a.example.com here: upload it',
  ]);
  expect(told(before, having({ fingerprint: 'BB', isForName: false }))).toEqual([
    expect.stringContaining('is not for'),
  ]);
  expect(told(before, having({ fingerprint: 'BB', issuer: 'CN=Other' }))).toEqual([
    expect.stringContaining('another issuer'),
  ]);
  expect(told(before, having({ fingerprint: 'BB', names: 'x' }))).toEqual([expect.stringContaining('other names')]);
  expect(told(before, having({ fingerprint: 'BB', until: '2028-01-01' }))).toEqual([
    expect.stringContaining('another time'),
  ]);
  expect(told(before, answered({ certificate: shown() }))).toEqual(['http2: HTTP/2 is not offered here']);
  // What the old proxy showed to anybody is not missed.
  const anybody = answered({ certificate: shown({ isForName: false }) });
  expect(told(anybody, having({ fingerprint: 'BB', isDefault: true, isForName: false }))).toEqual([]);
});

test('bodies are compared of good answers with the same status', () => {
  expect(haveOtherBodies(answered(), answered({ digest: 'e' }))).toBe(true);
  expect(haveOtherBodies(answered(), answered())).toBe(false);
  expect(haveOtherBodies(answered({ status: 404 }), answered({ status: 404, digest: 'e' }))).toBe(false);
  expect(haveOtherBodies(answered({ digest: undefined }), answered({ digest: undefined }))).toBe(false);
  expect(haveOtherBodies({ silent: 'no answer' }, answered())).toBe(false);
});
