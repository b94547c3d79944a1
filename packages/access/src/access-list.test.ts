import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AccessList, compileAccessList } from './access-list.ts';

const given = (fields: Partial<AccessList>): AccessList => ({
  type: 'allow',
  rules: [],
  countries: [],
  local_network_only: false,
  enabled: true,
  ...fields,
});
const rules = (...cidrs: string[]) => cidrs.map((cidr) => ({ cidr }));
const countries: Record<string, string> = { '198.51.100.7': 'DE', '203.0.113.9': 'FR', '2001:db8::7': 'DE' };
// As the packaged database has it.
countries['192.168.1.1'] = 'AU';
const lookup = (address: string) => countries[address] ?? null;

describe('access lists', () => {
  test.each<[string, Partial<AccessList>, string, boolean]>([
    ['allow admits a listed network', { rules: rules('198.51.100.0/24') }, '198.51.100.7', true],
    ['allow refuses every other', { rules: rules('198.51.100.0/24') }, '203.0.113.9', false],
    ['allow knows IPv4 in IPv6 clothes', { rules: rules('198.51.100.0/24') }, '::ffff:198.51.100.7', true],
    ['an empty allow list admits nobody', {}, '198.51.100.7', false],
    ['deny refuses a listed network', { type: 'deny', rules: rules('2001:db8::/32') }, '2001:db8::1', false],
    ['deny admits every other', { type: 'deny', rules: rules('2001:db8::/32') }, '2001:db9::1', true],
    ['an empty deny list admits everybody', { type: 'deny' }, '198.51.100.7', true],
    ['geo_allow admits its countries', { type: 'geo_allow', countries: ['DE'] }, '198.51.100.7', true],
    ['geo_allow knows IPv6', { type: 'geo_allow', countries: ['DE'] }, '2001:DB8::7', true],
    ['geo_allow refuses other countries', { type: 'geo_allow', countries: ['DE'] }, '203.0.113.9', false],
    ['geo_allow refuses what has no country', { type: 'geo_allow', countries: ['DE'] }, '192.0.2.1', false],
    ['geo_deny refuses its countries', { type: 'geo_deny', countries: ['DE'] }, '198.51.100.7', false],
    ['geo_deny admits other countries', { type: 'geo_deny', countries: ['DE'] }, '203.0.113.9', true],
    ['geo_deny admits what has no country', { type: 'geo_deny', countries: ['DE'] }, '192.0.2.1', true],
    [
      'geo_allow takes private addresses for no country',
      { type: 'geo_allow', countries: ['AU'] },
      '192.168.1.1',
      false,
    ],
    ['geo_deny takes private addresses for no country', { type: 'geo_deny', countries: ['AU'] }, '192.168.1.1', true],
    [
      'rules of a geo list go before the country',
      { type: 'geo_allow', countries: ['DE'], rules: rules('203.0.113.9') },
      '203.0.113.9',
      true,
    ],
    ['local_network_only refuses the world', { type: 'deny', local_network_only: true }, '198.51.100.7', false],
    ['local_network_only admits RFC 1918', { local_network_only: true }, '192.168.7.7', true],
    ['local_network_only admits unique local IPv6', { local_network_only: true }, 'fd00::7', true],
    [
      'local_network_only narrows, it does not widen',
      { local_network_only: true, rules: rules('10.0.0.0/8') },
      '192.168.7.7',
      false,
    ],
    ['a list that is off admits everybody', { enabled: false }, '198.51.100.7', true],
    ['what is no address is refused', { type: 'deny' }, 'unknown', false],
  ])('%s', (_what, fields, address, allowed) => {
    const judgement = compileAccessList(given(fields), lookup)(address);
    expect(judgement.allowed).toBe(allowed);
    expect(judgement.reason).not.toBe('');
  });

  test.each(['geo_allow', 'geo_deny'] as const)('%s refuses everybody while there is no country database', (type) => {
    expect(compileAccessList(given({ type, countries: ['DE'] }))('198.51.100.7')).toEqual({
      allowed: false,
      reason: 'no country database is installed',
    });
  });

  test('refuses to work with a rule that is no network', () => {
    expect(() => compileAccessList(given({ rules: rules('10.0.0.0/8', '10.0.0/8') }))).toThrow('not an IP address');
  });

  test('never throws and never admits garbage, whatever the client address is', () => {
    const judge = compileAccessList(given({ type: 'deny' }), lookup);
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { allowed } = judge(text);
        if (allowed) expect(text).toMatch(/[.:]/);
      }),
    );
  });
});
