import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AcmeProtocolError } from '../model/errors.ts';
import { readAuthorization } from './authorization.ts';
import { readDirectory } from './directory.ts';
import { parseObject } from './json.ts';
import { readOrder } from './order.ts';
import { ownUrls } from './own-url.ts';
import { readProblem } from './problem.ts';
import { readRenewalInfo } from './renewal-info.ts';
import { readRetryAfter } from './retry-after.ts';
import { readText } from './text.ts';

const url = 'https://ca.example/thing';
const ownUrl = ownUrls(new URL('https://ca.example/dir'));
const now = new Date('2026-11-22T12:00:00Z');

/** Values that ACME has, that it has elsewhere, and any others. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    'pending',
    'valid',
    'invalid',
    'ready',
    'https://ca.example/a',
    'https://evil.example/',
    true,
    null,
  ),
  fc.constantFrom<unknown>(
    'a.example',
    'DGyRejmCefe7v4NfDGDKfA',
    '2026-12-01T00:00:00Z',
    'urn:ietf:params:acme:error:caa',
    403,
  ),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
);
const NAMES =
  'status type detail title subproblems identifier identifiers authorizations finalize certificate challenges url token error';
const MORE =
  'wildcard expires suggestedWindow start end explanationURL newNonce newAccount newOrder renewalInfo meta profiles value __proto__';
const name = fc.constantFrom(...NAMES.split(' '), ...MORE.split(' '));
const { document } = fc.letrec<{ document: Record<string, unknown>; inner: unknown }>((tie) => ({
  document: fc.dictionary(name, fc.oneof({ depthSize: 'small' }, value, tie('inner')), { maxKeys: 12 }),
  inner: fc.oneof(fc.array(fc.oneof(value, tie('document')), { maxLength: 4 }), tie('document')),
}));

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** All texts that are somewhere in it. */
const textsIn = (found: unknown): string[] =>
  typeof found === 'string'
    ? [found]
    : typeof found === 'object' && found !== null
      ? Object.entries(found).flatMap(([key, inner]) => [key, ...textsIn(inner)])
      : [];

test('whatever a CA answers, it is read or refused, and nothing unseen gets through', () => {
  const readers: readonly ((body: string) => unknown)[] = [
    (body) => readDirectory(body, url, ownUrl),
    (body) => readOrder(body, url, ownUrl),
    (body) => readAuthorization(body, url, ownUrl),
    (body) => readRenewalInfo(body, '60', url, now),
    (body) => readProblem(parseObject(body, url), 400),
  ];
  const read = readers.map(() => 0);
  fc.assert(
    fc.property(fc.oneof({ arbitrary: document.map((one) => JSON.stringify(one)), weight: 9 }, fc.string()), (body) => {
      for (const [index, reader] of readers.entries()) {
        try {
          const texts = textsIn(reader(body));
          read[index] = (read[index] ?? 0) + 1;
          expect(texts.filter((text) => UNSEEN.test(text) || text.length > 2_001)).toEqual([]);
        } catch (error) {
          expect(error).toBeInstanceOf(AcmeProtocolError);
          expect(UNSEEN.test((error as Error).message)).toBe(false);
        }
      }
    }),
    { numRuns: 1_000 },
  );
  // It tells at all: a problem is read from anything.
  expect(read.at(-1)).toBeGreaterThan(300);
});

test('texts are bounded, whole characters, and have nothing unseen', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, length) => {
      const read = readText(text, length);
      expect(read.length).toBeLessThanOrEqual(length + 1);
      expect(read.isWellFormed()).toBe(true);
      expect(UNSEEN.test(read)).toBe(false);
      expect(readText(read, length + 1)).toBe(read);
    }),
  );
  expect(readText('Zone “münchen” failed', 100)).toBe('Zone “münchen” failed');
  expect(readText(' a\r\n\u001b[31mb ', 100)).toBe('a [31mb');
  expect(readText('abcdef', 6)).toBe('abcdef');
  expect(readText('abcdefg', 6)).toBe('abcde…');
  expect(readText({ toString: () => 'x' }, 100)).toBe('');
});

test('Retry-After is never in the past, and never further off than 30 days', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.nat().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
      (header) => {
        const at = readRetryAfter(header, now)?.getTime();
        if (at === undefined) return;
        expect(at).toBeGreaterThanOrEqual(now.getTime());
        expect(at).toBeLessThanOrEqual(now.getTime() + 30 * 86_400_000);
      },
    ),
  );
  expect(readRetryAfter('120', now)).toEqual(new Date('2026-11-22T12:02:00Z'));
  expect(readRetryAfter('Sun, 22 Nov 2026 12:02:00 GMT', now)).toEqual(new Date('2026-11-22T12:02:00Z'));
  expect(readRetryAfter('Sun, 22 Nov 2020 12:02:00 GMT', now)).toEqual(now);
  for (const header of ['', '-1', '1.5', 'soon', '2026-11-22', '1 Sun, 22 Nov 2026 12:02:00 GMT', null, undefined]) {
    expect(readRetryAfter(header, now)).toBeUndefined();
  }
});

test('an order is read as it is; one that is valid says where its certificate is', () => {
  const identifiers = [{ type: 'dns', value: 'A.Example' }];
  const parts = { identifiers, authorizations: [`${url}/1`], finalize: `${url}/2`, expires: '2026-12-01T00:00:00Z' };
  const read = (more: object) => readOrder(JSON.stringify({ ...parts, ...more }), url, ownUrl);
  const order = {
    ...{ url, names: ['a.example'], authorizations: [`${url}/1`], finalize: `${url}/2`, error: undefined },
    expires: new Date('2026-12-01T00:00:00Z'),
  };
  expect(read({ status: 'pending' })).toEqual({ ...order, status: 'pending', certificate: undefined });
  expect(read({ status: 'valid', certificate: `${url}/3` })).toEqual({
    ...{ ...order, status: 'valid', certificate: `${url}/3` },
  });
  for (const certificate of [undefined, null]) {
    expect(() => read({ status: 'valid', certificate })).toThrow('does not say where its certificate is');
  }
  for (const elsewhere of [
    { status: 'valid', certificate: 'https://evil.example/3' },
    { status: 'pending', finalize: 'https://evil.example/2' },
    { status: 'pending', authorizations: [`${url}/1`, 'https://evil.example/1'] },
  ]) {
    expect(() => read(elsewhere)).toThrow(AcmeProtocolError);
  }
});
