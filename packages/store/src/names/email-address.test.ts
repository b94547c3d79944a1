import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseEmail } from './email-address.ts';

test.each([
  ['a@example.com', 'a@example.com'],
  [' A.B+c@Example.COM ', 'a.b+c@example.com'],
  ["o'neil@example.com", "o'neil@example.com"],
  ['jörg@bücher.example', 'jörg@xn--bcher-kva.example'],
  ['jo\u0308rg@example.com', 'jörg@example.com'],
  ['root@localhost', 'root@localhost'],
])('normalises %s to %s', (text, expected) => {
  expect(parseEmail(text)).toBe(expected);
});

test.each([
  '',
  '@',
  'a',
  'a@',
  '@example.com',
  'a@b@example.com',
  'a b@example.com',
  'a@exa mple.com',
  'a,b@example.com',
  '<a@example.com>',
  '"a"@example.com',
  'a;b@example.com',
  'a\r\nbcc: b@example.com',
  'a@example.com\nb@example.com',
  '.a@example.com',
  'a.@example.com',
  'a..b@example.com',
  'a@-example.com',
  'a@example..com',
  'a@*.example.com',
  'a@127.0.0.1',
  'a@[127.0.0.1]',
  'a\u202e@example.com',
  `${'a'.repeat(65)}@example.com`,
  `a@${'b.'.repeat(126)}example.com`,
])('refuses %j', (text) => {
  expect(() => parseEmail(text)).toThrow('must be a valid e-mail address');
});

test('gives one form that stays as it is, and that no mail header reads as more than an address', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.emailAddress(),
        fc.string({ unit: 'binary' }).map((text) => `${text}@example.com`),
      ),
      (text) => {
        let email: string;
        try {
          email = parseEmail(text);
        } catch {
          return;
        }
        expect(parseEmail(email)).toBe(email);
        expect(email).not.toMatch(/[\s,;<>"()\p{Cc}]/u);
      },
    ),
  );
});
