import { expect, test } from 'vitest';
import { banLines, limitEntries, networkEntries, switchEntries } from './entries.ts';

test('a network is there once, and one that spans IPv4 in IPv6 stands for IPv6 only', () => {
  expect(networkEntries(['192.0.2.0/24', '2001:db8::/32', '192.0.2.0/24'])).toEqual([
    ['192.0.2.0/24', '1'],
    ['2001:db8::/32', '1'],
  ]);
  const keys = networkEntries(['::/0']).map(([key]) => key);
  expect(keys).toHaveLength(96);
  expect(keys).toContain('8000::/1');
  expect(keys).not.toContain('::/0');
  expect(keys.some((key) => key.startsWith('::ffff:0:0'))).toBe(false);
  // A single address, however it begins, is itself.
  expect(networkEntries(['::1', '::/120'])).toEqual([
    ['::1', '1'],
    ['::/120', '1'],
  ]);
});

test('that nobody is limited is said, not left out', () => {
  expect(limitEntries({ requests: 100, burst: 20, windowSec: 10, bypass: [] })).toEqual([['requests', '120']]);
  expect(limitEntries(null)).toEqual([['requests', '0']]);
});

test('what guards are not asked about is said, so that a switch that is missing asks', () => {
  const entries = (judgeAccess: boolean, judgeWaf: boolean, failMode: 'open' | 'closed' = 'closed') =>
    switchEntries({ judgeAccess, judgeWaf, failMode, policy: 7, remembered: 5 });
  // The bits of a route's flags that haproxy.cfg tests: 512 has an access list, 1024 has the firewall on.
  expect(entries(true, true)).toEqual([
    ['unasked', '0'],
    ['fail_open', '0'],
    ['policy', '7'],
    ['remembered', '5'],
  ]);
  expect(entries(false, true)[0]).toEqual(['unasked', '512']);
  expect(entries(true, false)[0]).toEqual(['unasked', '1024']);
  expect(entries(false, false, 'open')).toEqual([
    ['unasked', '1536'],
    ['fail_open', '1'],
    ['policy', '7'],
    ['remembered', '5'],
  ]);
});

test('a list of bans ends with everybody else, who is cleared: a list that was cut clears nobody', () => {
  const everybodyElse = [
    ['0.0.0.0/0', 'ok'],
    ['::/0', 'ok'],
  ];
  expect(banLines(new Map())).toEqual(everybodyElse);
  expect(banLines(new Map([['192.0.2.7', 'ref']]))).toEqual([['192.0.2.7', 'ref'], ...everybodyElse]);
});

test('whoever bans all addresses has banned all', () => {
  expect(banLines(new Map([['0.0.0.0/0', 'ref']]))).toEqual([
    ['0.0.0.0/0', 'ref'],
    ['::/0', 'ok'],
  ]);
  const lines = banLines(new Map([['::/0', 'ref']]));
  expect(lines).toHaveLength(97);
  expect(lines.filter(([, value]) => value === 'ok')).toEqual([['0.0.0.0/0', 'ok']]);
});
