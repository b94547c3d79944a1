import { describe, expect, test } from 'vitest';
import { type GivenRequest, given } from '../../test/support/given.ts';
import { judge, rules } from '../../test/support/judge.ts';

describe('ctl', () => {
  const request: GivenRequest = { query: 'a=evil&b=evil', headers: { Cookie: 'c=evil' } };
  const target = `SecRule ARGS|REQUEST_COOKIES "@contains evil" "id:100,phase:2,deny,log,tag:attack-x,msg:'Evil thing'"`;

  test.each([
    ['ruleRemoveById=100', 'pass'],
    ['ruleRemoveById=50-150', 'pass'],
    ['ruleRemoveByTag=^attack-', 'pass'],
    ['ruleRemoveByMsg=Evil', 'pass'],
    ['ruleRemoveById=101', 'block'],
    ['ruleRemoveTargetById=100;ARGS', 'block'],
    ['ruleRemoveTargetByTag=attack-x;ARGS:/^[ab]$/', 'block'],
    ['ruleEngine=DetectionOnly', 'pass'],
    ['ruleEngine=Off', 'pass'],
  ])('%s', (control, action) => {
    expect(judge(`SecAction "id:1,phase:1,pass,nolog,ctl:${control}"\n${target}`, request).action).toBe(action);
  });

  test('takes targets out one by one', () => {
    const controls = ['ARGS:a', 'ARGS:/^b/', 'REQUEST_COOKIES']
      .map((name) => `ctl:ruleRemoveTargetById=100;${name}`)
      .join(',');
    expect(judge(`SecAction "id:1,phase:1,pass,nolog,${controls}"\n${target}`, request).action).toBe('pass');
  });

  test('acts for its own request only', () => {
    const ruleSet = rules(`SecRule ARGS:skip "@eq 1" "id:1,phase:1,pass,nolog,ctl:ruleRemoveById=100"\n${target}`);
    expect(ruleSet.inspect(given.request({ ...request, query: 'skip=1&a=evil' })).action).toBe('pass');
    expect(ruleSet.inspect(given.request(request)).action).toBe('block');
  });
});

describe('rule updates', () => {
  const rule = 'SecRule ARGS "@contains evil" "id:1,phase:1,deny,log,tag:t1,msg:\'m1\'"';
  test.each([
    ['SecRuleRemoveById 1', 'pass'],
    ['SecRuleRemoveById 5 "1-3"', 'pass'],
    ['SecRuleRemoveByTag t1', 'pass'],
    ['SecRuleRemoveByMsg ^m', 'pass'],
    ['SecRuleUpdateTargetById 1 "!ARGS:a"', 'pass'],
    ['SecRuleUpdateTargetByTag t1 "!ARGS:a"', 'pass'],
    ['SecRuleUpdateTargetByMsg m1 "!ARGS:/^A$/"', 'pass'],
    ['SecRuleUpdateTargetById 1 "REQUEST_URI" "ARGS"', 'block'],
    ['SecRuleUpdateActionById 1 "pass"', 'pass'],
    ['SecRuleUpdateActionById 1 "t:sha1"', 'pass'],
    ['SecRuleUpdateTargetById 1 "!ARGS:b"', 'block'],
  ])('%s', (update, action) => {
    expect(judge(`${rule}\n${update}`, { query: 'a=evil' }).action).toBe(action);
  });

  test('act on the rules above them only', () => {
    expect(judge(`SecRuleRemoveById 1\n${rule}`, { query: 'a=evil' }).action).toBe('block');
  });
});

describe('exclusions that come with a request', () => {
  const ruleSet = rules('SecRule ARGS "@contains evil" "id:1,phase:1,deny"');
  const request = given.request({ query: 'a=evil' });

  test('take out a rule or a target for this request', () => {
    expect(ruleSet.inspect({ ...request, exclusions: [{ ruleId: 1 }] }).action).toBe('pass');
    expect(ruleSet.inspect({ ...request, exclusions: [{ ruleId: 1, target: 'ARGS:a' }] }).action).toBe('pass');
    expect(ruleSet.inspect({ ...request, exclusions: [{ ruleId: 1, target: 'ARGS:b' }, { ruleId: 2 }] }).action).toBe(
      'block',
    );
    expect(ruleSet.inspect(request).action).toBe('block');
  });

  test('exclude nothing when their target is none', () => {
    expect(ruleSet.inspect({ ...request, exclusions: [{ ruleId: 1, target: 'NOSUCH:x' }] }).action).toBe('block');
  });
});
