import { describe, expect, test } from 'vitest';
import { type GivenRequest, given } from '../../test/support/given.ts';
import { judge, rules } from '../../test/support/judge.ts';
import { compile } from '../index.ts';

describe('ctl', () => {
  const request: GivenRequest = { query: 'a=evil&b=evil', headers: { Cookie: 'c=evil' } };
  const target = `SecRule ARGS|REQUEST_COOKIES "@contains evil" "id:100,phase:2,deny,log,tag:attack-x,msg:'Evil thing'"`;

  test.each([
    ['ruleRemoveById=100', 'pass'],
    ['ruleRemoveById=50-150', 'pass'],
    ['ruleRemoveByTag=^attack-', 'pass'],
    ['ruleRemoveByMsg=Evil', 'pass'],
    ['ruleRemoveById=101', 'block'],
    ['ruleRemoveByTag=^other-', 'block'],
    ['ruleRemoveByMsg=Other', 'block'],
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

describe('rule updates leave alone what they do not name', () => {
  const four = [1, 2, 3, 4]
    .map((id) => `SecRule ARGS:r${id} "@contains evil" "id:${id},phase:1,deny,log,tag:'t${id}',msg:'m${id}'"`)
    .join('\n');
  /** The rules that still refuse what they look for. */
  const inForce = (updates: string, text = four) => {
    const ruleSet = rules(`${text}\n${updates}`);
    return [1, 2, 3, 4].filter((id) => ruleSet.inspect(given.request({ query: `r${id}=evil` })).action === 'block');
  };

  test.each([
    ['SecRuleRemoveById 2-3', [1, 4]],
    ['SecRuleRemoveById 1 "3,4"', [2]],
    ['SecRuleRemoveById 4-100', [1, 2, 3]],
    ['SecRuleRemoveByTag ^t[23]$', [1, 4]],
    ['SecRuleRemoveByTag m2', [1, 2, 3, 4]],
    ['SecRuleRemoveByMsg t2', [1, 2, 3, 4]],
    ['SecRuleRemoveByMsg m4', [1, 2, 3]],
    ['SecRuleUpdateTargetById 2 "!ARGS:r2"', [1, 3, 4]],
    ['SecRuleUpdateTargetById 2 "!ARGS:r3"', [1, 2, 3, 4]],
    ['SecRuleUpdateTargetById 2 "REQUEST_URI" "args:R2"', [1, 2, 3, 4]],
    ['SecRuleUpdateTargetById 2 "REQUEST_METHOD" "ARGS:r2"', [1, 3, 4]],
    ['SecRuleUpdateTargetById 2 "REQUEST_METHOD" "ARGS:r3"', [1, 2, 3, 4]],
    ['SecRuleUpdateTargetByTag t3 "!ARGS"', [1, 2, 4]],
    ['SecRuleUpdateActionById 3 "pass"', [1, 2, 4]],
    ['SecRuleUpdateActionById 3 "logdata:x"', [1, 2, 3, 4]],
    ['SecRuleUpdateActionById 3 "t:sha1"', [1, 2, 4]],
    ['SecRuleUpdateActionById 3 "t:lowercase"', [1, 2, 3, 4]],
  ])('%s', (updates, left) => expect(inForce(updates)).toEqual(left));

  test('actions take the place of those of their kind, in the link that is named', () => {
    const chain =
      'SecRule ARGS:r1 "@contains evil" "id:1,phase:1,deny,log,t:sha1,chain"\nSecRule ARGS:r1 "@contains EVIL" "t:uppercase"';
    expect(inForce('', chain)).toEqual([]);
    // What both links transform is their own.
    expect(inForce('SecRuleUpdateActionById 1 "t:none"', chain)).toEqual([1]);
    expect(inForce('SecRuleUpdateActionById 1:0 "t:none"', chain)).toEqual([1]);
    expect(inForce('SecRuleUpdateActionById 1:1 "t:none"', chain)).toEqual([]);
    expect(inForce('SecRuleUpdateActionById 1 "t:none"\nSecRuleUpdateActionById 1:1 "t:lowercase"', chain)).toEqual([]);
    expect(inForce('SecRuleUpdateActionById 1 "t:none,pass"\nSecRuleUpdateActionById 1 "deny"', chain)).toEqual([1]);
  });

  test.each([
    ['SecRuleRemoveById', 'takes which rules'],
    ['SecRuleRemoveByTag a b', 'takes which rules'],
    ['SecRuleRemoveByTag (', 'This pattern is not valid'],
    ['SecRuleRemoveById 3-2', 'not a list of rule ids'],
    ['SecRuleRemoveById 1-', 'not a list of rule ids'],
    ['SecRuleRemoveById 1:1 x', 'not a list of rule ids'],
    ['SecRuleRemoveById " "', 'not a list of rule ids'],
    ['SecRuleUpdateTargetById 1', 'takes which rules, then the targets'],
    ['SecRuleUpdateTargetById 1 ARGS ARGS ARGS', 'takes which rules, then the targets'],
    ['SecRuleUpdateActionById 1', 'takes which rules, then the actions'],
    ['SecRuleUpdateActionById 1 pass pass', 'takes which rules, then the actions'],
    ['SecRuleUpdateActionById 1:2 pass', 'has no chain link 2'],
    ['SecRuleUpdateActionById 1 id:7', 'cannot change id'],
    ['SecRuleUpdateActionById 1 phase:2', 'cannot change phase'],
    ['SecRuleUpdateActionById 1 chain', 'cannot change chain'],
    ['SecRuleRemoveById 9', 'finds no rule above this line'],
    ['SecRuleRemoveById 1\nSecRuleRemoveById 1', 'finds no rule above this line'],
  ])('%s is told', (updates, problem) => {
    const { diagnostics } = compile([{ path: 'x.conf', text: `${four}\n${updates}` }]);
    expect(diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining(problem)]);
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
