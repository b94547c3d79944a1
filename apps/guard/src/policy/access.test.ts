import type { GuardConfig } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { compileAccess } from './access.ts';

type Lists = GuardConfig['access']['lists'];

const list = (id: number, cidr: string): Lists[number] => ({
  id,
  name: `list ${id}`,
  description: '',
  type: 'allow',
  rules: [{ cidr }],
  countries: [],
  local_network_only: false,
  enabled: true,
});

const config = (lists: Lists, hosts: GuardConfig['hosts'], enabled = true): GuardConfig => ({
  revision: 1,
  access: { enabled, lists },
  waf: { enabled: false, mode: 'block', fail_mode: 'closed', rule_sources: [], exclusions: [] },
  admin_whitelist: [],
  hosts,
});

const hosts = [{ id: 1, access_list_id: 10, waf_enabled: true }];

test('a host is judged by its own list, others by none', () => {
  const { judge, knows } = compileAccess(config([list(10, '192.0.2.0/24'), list(11, '10.0.0.0/8')], hosts), undefined);
  expect(judge(1, '192.0.2.9')).toBeUndefined();
  expect(judge(1, '10.0.0.1')).toBe('the address is in no allowed network');
  expect(judge(2, '10.0.0.1')).toBeUndefined();
  expect([knows(1), knows(2)]).toEqual([true, false]);
});

test('remembers no more clients than it may, and judges each the same every time', () => {
  const { judge } = compileAccess(config([list(10, '10.0.0.0/9')], hosts), undefined);
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 20_000; i++) {
      const client = `10.${i % 2 === 0 ? 1 : 200}.${i >> 8}.${i & 255}`;
      expect(judge(1, client) === undefined).toBe(i % 2 === 0);
    }
  }
});

test('nobody is refused while access lists are switched off', () => {
  const { judge, knows } = compileAccess(config([list(10, '192.0.2.0/24')], hosts, false), undefined);
  expect(judge(1, '10.0.0.1')).toBeUndefined();
  expect(knows(2)).toBe(true);
});

test('a list that is not there, or a network that is none, is an error and not a hole', () => {
  expect(() => compileAccess(config([], hosts), undefined)).toThrow('access list 10, which is not there');
  expect(() => compileAccess(config([list(10, '192.0.2.0/33')], hosts), undefined)).toThrow('prefix length');
});
