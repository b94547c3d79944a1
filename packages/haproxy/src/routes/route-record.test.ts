import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { givenHost } from '../../../../test/support/haproxy/given.ts';
import { checkName, disabledRecord, encodeRoute, InvalidRoute } from './route-record.ts';

const origin = { address: '10.0.0.1', port: 8080 };
const host = (parts: Partial<Parameters<typeof givenHost>[0]['origin']> = {}, flags = {}) =>
  givenHost({ id: 7, names: ['a.example.com'], origin: { ...origin, ...parts } }, flags);

describe('route record', () => {
  test.each([
    [host(), '320|10.0.0.1|8080||7'],
    [host({}, { block_exploits: false, enable_standard_headers: false }), '0|10.0.0.1|8080||7'],
    [host({ address: '2001:db8::1' }), '320|2001:db8::1|8080||7'],
    [host({ scheme: 'https', sni: 'origin.example.com' }), '321|10.0.0.1|8080|origin.example.com|7'],
    [
      host({ scheme: 'https', sni: 'origin.example.com', verify: true, h2: true }),
      '327|10.0.0.1|8080|origin.example.com|7',
    ],
    [host({ scheme: 'https', sni: '10.0.0.1' }), '321|10.0.0.1|8080||7'],
    [host({ verify: true }), '320|10.0.0.1|8080||7'],
    [
      host(
        {},
        {
          ssl_forced: true,
          hsts_enabled: true,
          hsts_subdomains: true,
          websocket_support: true,
          access_list: true,
          firewall: true,
        },
      ),
      '2040|10.0.0.1|8080||7',
    ],
    [host({}, { hsts_subdomains: true }), '320|10.0.0.1|8080||7'],
    [host({}, { enabled: false }), disabledRecord],
  ])('%# is written as %s', (given, record) => {
    expect(encodeRoute(given)).toBe(record);
  });

  test.each([
    [host({ address: 'origin.example.com' }), /not an IP address/],
    [host({ address: 'fe80::1%eth0' }), /not an IP address/],
    [host({ address: '10.0.0.1|1' }), /not an IP address/],
    [host({ port: 0 }), /port/],
    [host({ port: 65_536 }), /port/],
    [host({ port: 80.5 }), /port/],
    [host({ scheme: 'https', sni: 'a b' }), /domain name/],
    [host({ scheme: 'https', sni: '*.example.com' }), /wildcard/],
    [host({ scheme: 'https', verify: true }), /host name/],
    [host({ scheme: 'https', verify: true, sni: '10.0.0.1' }), /host name/],
    [{ ...host(), id: -1 }, /id/],
  ])('%# is refused', (given, reason) => {
    expect(() => encodeRoute(given)).toThrow(InvalidRoute);
    expect(() => encodeRoute(given)).toThrow(reason);
    expect(() => encodeRoute(given)).toThrow(expect.objectContaining({ name: 'InvalidRoute' }));
  });

  test('whatever the values are, a record is one word without a second meaning, or refused', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.integer(), fc.boolean(), (address, sni, port, verify) => {
        try {
          expect(encodeRoute(host({ scheme: 'https', address, sni, port, verify }))).toMatch(
            /^\d+\|[0-9a-f.:]+\|\d+\|[a-z0-9._-]*\|7$/i,
          );
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRoute);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('names', () => {
  test.each([
    'example.com',
    '*.example.com',
    'localhost',
    'xn--bcher-kva.example',
    '_dmarc.example.com',
    'a'.repeat(63),
    '1.2.3.4',
  ])('%s can be served', (name) => {
    expect(checkName(name)).toBe(name);
  });

  test.each([
    '',
    ' ',
    'a b',
    'a\nb',
    'a\0b',
    'a#b',
    '#a',
    '"a"',
    "a'b",
    'a;b',
    'a\\b',
    'a|b',
    'A.example.com',
    'bücher.example',
    '*',
    '*.',
    '*.*.com',
    'a.*.com',
    '.a',
    'a.',
    'a..b',
    '-a',
    'a-',
    'a/b',
    'a:80',
    '[::1]',
    'none ',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(126)}ab`,
    'a'.repeat(100_000),
  ])('%j cannot', (name) => {
    expect(() => checkName(name)).toThrow(InvalidRoute);
  });
});
