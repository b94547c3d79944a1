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

describe('check, of what each part of a rule sees', () => {
  const unreachable = (text: string) =>
    checkText(text).findings.flatMap(({ kind, ruleId }) => (kind === 'unreachable' ? [ruleId] : []));

  test.each([
    ['ARGS_POST', 2],
    ['ARGS_POST_NAMES', 2],
    ['REQUEST_BODY', 2],
    ['FILES', 2],
    ['FILES_NAMES', 2],
    ['FILES_SIZES', 2],
    ['FILES_TMP_CONTENT', 2],
    ['XML:/*', 2],
    ['MULTIPART_PART_HEADERS', 2],
    ['RESPONSE_HEADERS', 3],
    ['RESPONSE_HEADERS_NAMES', 3],
    ['RESPONSE_STATUS', 3],
    ['RESPONSE_PROTOCOL', 3],
    ['RESPONSE_BODY', 4],
    ['ARGS', 1],
    ['FULL_REQUEST', 1],
  ])('%s has values from phase %i on', (variable, first) => {
    const blind = [1, 2, 3, 4].filter(
      (phase) => unreachable(`SecRule ${variable} "@rx a" "id:1,phase:${phase},pass"`).length > 0,
    );
    expect(blind).toEqual([1, 2, 3, 4].slice(0, first - 1));
  });

  test('a count has a value always, and a rule whose chain sees nothing never matches', () => {
    expect(unreachable('SecRule &REQUEST_BODY "@eq 0" "id:1,phase:1,pass"')).toEqual([]);
    expect(unreachable('SecRule ARGS "@rx a" "id:1,phase:1,pass,chain"\nSecRule FILES "@rx a"')).toEqual([1]);
    expect(unreachable('SecAction "id:1,phase:1,pass,chain"\nSecRule ARGS "@rx a"')).toEqual([]);
  });

  test('only what always happens hides what comes behind', () => {
    const rule = 'SecRule ARGS "@rx a" "id:9,phase:2,pass"';
    const hides = (text: string) => unreachable(`${text}\n${rule}`).includes(9);
    expect(hides('SecAction "id:1,phase:2,deny"')).toBe(true);
    expect(hides('SecAction "id:1,phase:2,allow"')).toBe(true);
    expect(hides('SecAction "id:1,phase:2,pass"')).toBe(false);
    expect(hides('SecAction "id:1,phase:1,deny"')).toBe(false);
    expect(hides('SecRule ARGS "@rx a" "id:1,phase:2,deny"')).toBe(false);
    expect(hides('SecAction "id:1,phase:2,deny,chain"\nSecRule ARGS "@rx a"')).toBe(false);
    expect(hides('SecAction "id:1,phase:2,pass,skip:1"')).toBe(true);
    expect(hides('SecAction "id:1,phase:2,pass,skip:1"\nSecAction "id:2,phase:2,pass"')).toBe(false);
    // Nothing is ended while things are logged.
    expect(unreachable(`SecAction "id:1,phase:5,deny"\n${rule.replace('phase:2', 'phase:5')}`)).toEqual([]);
  });

  test('tells file and line, in their order, and how many rules there are', () => {
    const source = (path: string, first: number) => ({
      path,
      text: `\n\nSecRule ARGS "@rx ^(a+)+$" "id:${first},phase:2,pass"\nSecRule FILES "@rx a" "id:${first + 1},phase:1,pass"`,
    });
    const { ruleCount, findings } = check([source('b.conf', 5), source('a.conf', 7)]);
    expect(ruleCount).toBe(4);
    expect(findings.map(({ file, line, kind, ruleId }) => [file, line, kind, ruleId])).toEqual([
      ['a.conf', 3, 'superlinear', 7],
      ['a.conf', 4, 'unreachable', 8],
      ['b.conf', 3, 'superlinear', 5],
      ['b.conf', 4, 'unreachable', 6],
    ]);
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

  test('tells which rules were left out, and why', () => {
    const text = `SecAction "id:1,phase:1,pass,nolog,ctl:ruleRemoveById=2"
SecRule ARGS "@rx a" "id:2,phase:1,pass"
SecAction "id:3,phase:1,pass,nolog,skip:1"
SecRule ARGS "@rx a" "id:4,phase:1,pass"`;
    const { explanation, diagnostics } = explain([baselineRules, { path: 'x', text }], { request: given.request({}) });
    expect(diagnostics).toEqual([]);
    expect(explanation!.skipped).toEqual([
      { ruleId: 2, reason: 'removed', by: null },
      { ruleId: 4, reason: 'jumped', by: 3 },
    ]);
    expect(explanation).toMatchObject({ fired: [1, 3], isCut: false });
  });

  test('looks at the response where there is one, and bounds and masks what it shows', () => {
    const text = `SecRule ARGS|FULL_REQUEST "!@rx ^${'x'.repeat(300)}" "id:1,phase:2,pass,nolog"
SecRule RESPONSE_STATUS "@eq 200" "id:2,phase:3,pass,nolog"`;
    const request = given.request({
      query: `q=${'y'.repeat(500)}&r=password%3dhunter2`,
      headers: { Cookie: 'hunter2' },
    });
    const response = { status: 200, headers: [], body: null };
    const { checks, fired } = explain([baselineRules, { path: 'x', text }], { request, response }).explanation!;
    const own = checks.filter(({ ruleId }) => ruleId < 10);
    expect(fired).toEqual([1, 2]);
    expect(own.map(({ variable, value, phase }) => [variable, value, phase])).toEqual([
      ['ARGS:q', `${'y'.repeat(160)}…`, 2],
      ['ARGS:r', 'password=***', 2],
      ['FULL_REQUEST', '***', 2],
      ['RESPONSE_STATUS', '200', 3],
    ]);
    expect(own[0]!.operator).toBe(`!@rx ^${'x'.repeat(199)}…`);
    expect(JSON.stringify(checks)).not.toContain('hunter2');
    expect(explain([{ path: 'x', text }], { request }).explanation!.fired).toEqual([]);
  });

  test('says when there was more than it keeps', () => {
    const text = `SecRuleEngine On\n${Array.from({ length: 201 }, (_, at) => `SecRule ARGS "@streq b" "id:${at + 1},phase:1,pass"`).join('\n')}`;
    const query = Array.from({ length: 1_000 }, (_, at) => `a${at}=c`).join('&');
    const { explanation } = explain(
      [{ path: 'x', text }],
      { request: given.request({ query }) },
      {},
      { workUnits: 1e9 },
    );
    expect([explanation!.isCut, explanation!.checks.length]).toEqual([true, 200_000]);
  });

  test('explains nothing where the rules do not compile', () => {
    const { explanation, diagnostics } = explain([{ path: 'x', text: 'Nope' }], { request: given.request({}) });
    expect([explanation, diagnostics.length]).toEqual([null, 1]);
  });
});
