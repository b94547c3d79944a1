import { describe, expect, test } from 'vitest';
import { given } from '../../test/support/given.ts';
import { baselineRules } from '../presets/baseline.ts';
import { check } from './check.ts';
import { explain } from './explain.ts';

const checkText = (text: string) => check([{ path: 'my.conf', text }]);

describe('check', () => {
  test('reports every diagnostic and stops there', () => {
    const report = checkText('SecRule ARGS "@nosuch x" "id:1"\nSecRule NOSUCH "@rx x" "id:2"\n');
    expect(report.diagnostics.map(({ line, token }) => [line, token])).toEqual([
      [1, '@nosuch'],
      [2, 'NOSUCH'],
    ]);
    expect(report.findings).toEqual([]);
  });

  test('finds rules that a SecAction always jumps over or never lets the phase get to', () => {
    const { findings } = checkText(`SecAction "id:1,phase:2,pass,nolog,skipAfter:END"
SecRule ARGS "@rx a" "id:2,phase:2,pass"
SecRule ARGS "@rx a" "id:3,phase:1,pass"
SecMarker END
SecAction "id:4,phase:2,deny"
SecRule ARGS "@rx a" "id:5,phase:2,pass"
`);
    expect(findings.map(({ ruleId, line, message }) => [ruleId, line, message])).toEqual([
      [2, 2, 'The SecAction 1 above always jumps over it'],
      [5, 6, 'The SecAction 4 above always ends the phase with deny'],
    ]);
  });

  test('finds rules whose variables have no value yet', () => {
    const { findings } = checkText(`SecRule REQUEST_BODY|XML:/* "@rx a" "id:1,phase:1,pass"
SecRule REQUEST_BODY|ARGS "@rx a" "id:2,phase:1,pass"
SecRule RESPONSE_BODY "@rx a" "id:3,phase:3,pass"
`);
    expect(findings.map(({ ruleId, message }) => [ruleId, message])).toEqual([
      [1, 'In phase 1 none of its variables has a value: they come with phase 2'],
      [3, 'In phase 3 none of its variables has a value: they come with phase 4'],
    ]);
  });

  test('finds patterns that would be superlinear in a backtracking engine', () => {
    const { findings } = checkText(
      'SecRule ARGS "@rx ^(a+)+$" "id:1,phase:2,pass"\nSecRule ARGS "@rx ^a+$" "id:2,phase:2,pass"\n',
    );
    expect(findings.map(({ ruleId, kind }) => [ruleId, kind])).toEqual([[1, 'superlinear']]);
  });
});

describe('explain', () => {
  const rules = {
    path: 'my.conf',
    text: `SecRule ARGS "@contains evil" "id:1,phase:1,deny,t:none,t:urlDecodeUni,t:lowercase,msg:'evil',chain"
  SecRule REQUEST_METHOD "!@streq POST" "t:none"
SecRule ARGS:password "@rx ." "id:2,phase:1,pass,nolog"
`,
  };

  test('tells what each link looked at, after which transformations, and why the rule fired', () => {
    const request = given.request({ query: 'a=%2545VIL&password=hunter2' });
    const { explanation } = explain([baselineRules, rules], { request }, {}, { mode: 'detect' });
    const { checks, fired, verdict } = explanation!;
    expect(verdict).toMatchObject({ action: 'pass', wouldBe: 'block', ruleId: 1 });
    expect(fired).toEqual([1, 2]);
    expect(checks.filter(({ isMatch }) => isMatch)).toEqual([
      {
        ...{ ruleId: 1, phase: 1, file: 'my.conf', line: 1, link: 0, variable: 'ARGS:a', value: 'evil' },
        ...{ transformations: ['urlDecodeUni', 'lowercase'], operator: '@contains evil', isMatch: true },
      },
      {
        ...{ ruleId: 1, phase: 1, file: 'my.conf', line: 2, link: 1, variable: 'REQUEST_METHOD', value: 'GET' },
        ...{ transformations: [], operator: '!@streq POST', isMatch: true },
      },
      {
        ...{ ruleId: 2, phase: 1, file: 'my.conf', line: 3, link: 0, variable: 'ARGS:password', value: '***' },
        ...{ transformations: [], operator: '@rx .', isMatch: true },
      },
    ]);
    expect(checks).toContainEqual(expect.objectContaining({ variable: 'ARGS:password', value: '***', isMatch: false }));
  });
});
