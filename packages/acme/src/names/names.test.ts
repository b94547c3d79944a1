import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { certificateNameProblem, normaliseName } from './certificate-name.ts';
import { checkOrderNames } from './order-names.ts';

const long = (length: number): string => 'a'.repeat(length);

describe('names that a certificate can have', () => {
  test.for([
    'example.com',
    'EXAMPLE.com',
    'a.b.c.example',
    '*.example.com',
    'xn--bcher-kva.example',
    'xn--p1ai.xn--p1ai',
    '1.example.com',
    'a-b.example',
    `${long(63)}.example`,
    '192.0.2.1',
    '2001:db8::1',
    '2001:0DB8:0:0:0:0:0:1',
    '::ffff:192.0.2.1',
  ])('%s', (name) => {
    expect(certificateNameProblem(name)).toBeUndefined();
  });
});

describe('names that no certificate can have', () => {
  test.for([
    ['', 'is empty'],
    [' example.com', 'can’t be seen'],
    ['exam\u0000ple.com', 'can’t be seen'],
    ['exam\u200bple.com', 'can’t be seen'],
    ['https://example.com', 'is a URL'],
    ['example.com/path', 'path or special characters'],
    ['admin@example.com', 'path or special characters'],
    ['example.com:443', 'has a port'],
    ['localhost:443', 'has a port'],
    ['192.0.2.1:443', 'with a port or prefix'],
    ['192.0.2.0/24', 'with a port or prefix'],
    ['[2001:db8::1]', 'no IPv6 address'],
    ['[2001:db8::1]:443', 'no IPv6 address'],
    ['2001:db8::/32', 'no IPv6 address'],
    ['2001:db8::12345', 'no IPv6 address'],
    ['fe80::1%eth0', 'a zone'],
    ['192.0.2', 'ends in a number'],
    ['192.0.2.256', 'ends in a number'],
    ['192.0.2.01', 'ends in a number'],
    ['0x7f.1', 'ends in a number'],
    ['a.0x7f', 'ends in a number'],
    ['2130706433', 'ends in a number'],
    ['*.192.0.2.1', 'ends in a number'],
    ['example.com.', 'ends with a dot'],
    ['.example.com', 'an empty part'],
    ['a..example.com', 'an empty part'],
    ['.', 'ends with a dot'],
    ['my_host.example.com', 'an underscore'],
    ['_acme-challenge.example.com', 'an underscore'],
    ['bücher.example', 'punycode'],
    ['xn--abc.example', 'not valid punycode'],
    ['xn--a.example', 'not valid punycode'],
    ['ab--c.example', 'reserved'],
    ['-a.example', 'begins or ends with a hyphen'],
    ['a-.example', 'begins or ends with a hyphen'],
    ['a!b.example', 'characters that a DNS name can’t have'],
    [`${long(64)}.example`, 'more than 63 characters'],
    [`${`${long(60)}.`.repeat(4)}example.com`, 'longer than 253 characters'],
    ['*', 'a wildcard for everything'],
    ['*.', 'ends with a dot'],
    ['*.com', 'a whole top-level domain'],
    ['a.*.example.com', 'elsewhere than as its whole first part'],
    ['*.*.example.com', 'elsewhere than as its whole first part'],
    ['a*.example.com', 'elsewhere than as its whole first part'],
    ['com', 'has no dot'],
    ['nas', 'has no dot'],
  ])('%s', ([name, problem]) => {
    expect(certificateNameProblem(name ?? '')).toContain(problem);
  });

  test('whatever is typed, there is an answer, and what is taken is plain', () => {
    const typed = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.domain(),
      fc.ipV6(),
      fc.stringMatching(/^[*.a-z0-9:_%[\]-]*$/),
    );
    fc.assert(
      fc.property(typed, (name) => {
        if (certificateNameProblem(name) === undefined) {
          expect(normaliseName(name)).toMatch(/^(?:(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+|[0-9a-f:.]+)$/);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

test('one address has one spelling, as one name has', () => {
  expect(normaliseName('2001:0DB8:0:0:0:0:0:1')).toBe('2001:db8::1');
  expect(normaliseName('*.Example.COM')).toBe('*.example.com');
  expect(normaliseName('192.0.2.1')).toBe('192.0.2.1');
});

describe('orders', () => {
  test('that a CA can take', () => {
    const names = Array.from({ length: 99 }, (_, index) => `n${index}.example.com`);
    expect(checkOrderNames([...names, '192.0.2.1'], 'http-01')).toEqual([]);
    expect(checkOrderNames([...names, '*.example.org'], 'dns-01')).toEqual([]);
    expect(checkOrderNames(['*.example.com', 'example.com', 'a.b.example.com'], 'dns-01')).toEqual([]);
  });

  test('of too many names, or none', () => {
    const names = Array.from({ length: 101 }, (_, index) => `n${index}.example.com`);
    expect(checkOrderNames(names, 'http-01')).toEqual([
      { index: 100, problem: 'a certificate can have 100 names at most, not 101' },
    ]);
    expect(checkOrderNames([], 'http-01')).toEqual([
      { index: undefined, problem: 'a certificate needs at least one name' },
    ]);
  });

  test('with names that don’t go together, each told by its place', () => {
    const problems = checkOrderNames(
      ['a.example.com', 'A.EXAMPLE.com', 'my_host.example', '*.example.org', '192.0.2.1'],
      'http-01',
    );
    expect(problems.map(({ index }) => index)).toEqual([1, 2, 3]);
    expect(problems[0]?.problem).toContain('twice');
    expect(problems[1]?.problem).toContain('"my_host.example" has an underscore');
    expect(problems[2]?.problem).toContain('dns-01');
    expect(checkOrderNames(['192.0.2.1', '*.example.com', 'a.example.com'], 'dns-01')).toEqual([
      { index: 0, problem: '"192.0.2.1" is an address: only the challenge http-01 can prove it' },
      { index: 2, problem: '"a.example.com" is covered by "*.example.com"' },
    ]);
    expect(checkOrderNames(['2001:db8::1', '2001:DB8:0::1'], 'http-01')).toMatchObject([{ index: 1 }]);
  });

  test('a long name is shown in part', () => {
    const [first] = checkOrderNames([long(10_000)], 'http-01');
    expect(first?.problem.length).toBeLessThan(200);
  });
});
