import { expect, test } from 'vitest';
import { compileExclusions, isExclusionTarget, normaliseExclusions } from './exclusions.ts';

test.each(['ARGS', 'ARGS:comment', 'ARGS:/^json/', 'REQUEST_HEADERS:User-Agent', `ARGS:${'a'.repeat(121)}`])(
  '%s can be excluded',
  (target) => {
    expect(isExclusionTarget(target)).toBe(true);
  },
);

// All of what is taken is written into rules: a line, a quote or a list in it would be a rule, an action or more targets.
test.each([
  '',
  'args',
  'A',
  '!ARGS:comment',
  '&ARGS:comment',
  ' ARGS:comment',
  'ARGS:',
  'ARGS:comment"',
  "ARGS:it's",
  'ARGS:a|XML',
  'ARGS:a,XML',
  'ARGS:a b',
  'ARGS:a\nSecRuleEngine Off',
  '"\nSecRuleEngine Off\n"ARGS',
  '"\nSecRuleEngine Off\n"ARGS:comment',
  'ARGS:comment\n',
  'ARGS:/a"b/',
  'ARGS:/a',
  'ARGS:a\\',
  `ARGS:${'a'.repeat(122)}`,
])('%j can not', (target) => {
  expect(isExclusionTarget(target)).toBe(false);
  expect(() => normaliseExclusions([{ rule_id: 942100 }, { rule_id: 942100, target }])).toThrow(
    'waf_exclusions[1].target must be',
  );
});

test('rules are named by ids or ranges in one form', () => {
  const written = (rule_id: number | string) => normaliseExclusions([{ rule_id }])[0]?.rule_id;
  expect(['942100', 1, ' 942100 - 942199 ', '5-5', 2_147_483_647, '1-2147483647'].map(written)).toEqual([
    942100,
    1,
    '942100-942199',
    5,
    2_147_483_647,
    '1-2147483647',
  ]);
  for (const wrong of [0, '0-5', '5-4', 'x', '1-', '1 2', '1-2-3', '1"', '-1', 2_147_483_648, '1-2147483648', 1.5]) {
    expect(() => written(wrong), String(wrong)).toThrow('waf_exclusions[0].rule_id must be a rule id or a range');
  }
  for (const narrowed of [{ path: '/x' }, { host_uuid: 'x' }]) {
    expect(() => normaliseExclusions([{ rule_id: '1-2', ...narrowed }])).toThrow('only without host_uuid and path');
  }
});

test('an exclusion holds until its end and no longer, and for its host alone', () => {
  const now = Date.parse('2026-05-02T12:00:00.000Z');
  const at = (ms: number) => new Date(now + ms).toISOString();
  const given = normaliseExclusions([
    { rule_id: 1, expires_at: at(0) },
    { rule_id: 2, expires_at: at(2_000) },
    { rule_id: '3-4', expires_at: at(1_000), target: 'ARGS:a' },
    { rule_id: 5, host_uuid: 'AB' },
    { rule_id: 6, host_uuid: 'gone' },
    { rule_id: 7, host_uuid: 'gone', path: '/all' },
    { rule_id: 8, path: '/p', target: 'ARGS' },
    { rule_id: 9 },
    { rule_id: 10, expires_at: at(3_000), path: '/r' },
  ]);
  expect(given.map(({ description }) => description)).toEqual(Array(9).fill(''));
  expect(compileExclusions(given, new Map([['ab', 17]]), now)).toEqual({
    directives: 'SecRuleUpdateTargetById "3-4" "!ARGS:a"\nSecRuleRemoveById "9"\n',
    perRequest: [
      { rule_id: 2 },
      { rule_id: 5, host_id: 17 },
      { rule_id: 8, target: 'ARGS', path: '/p' },
      { rule_id: 10, path: '/r' },
    ],
    nextExpiry: now + 1_000,
  });
  expect(compileExclusions(given.slice(0, 1), new Map(), now).nextExpiry).toBeUndefined();
});
