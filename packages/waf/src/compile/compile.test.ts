import { describe, expect, test } from 'vitest';
import { given } from '../../test/support/given.ts';
import { createRandom } from '../../test/support/mutate-request.ts';
import { type CompileEnv, compile, formatDiagnostic } from '../index.ts';
import { parseIdRanges } from './id-ranges.ts';

const problemsOf = (text: string, env: CompileEnv = {}): string[] =>
  compile([{ path: 'x.conf', text }], env).diagnostics.map(formatDiagnostic);

describe('mistakes are told with place, token and what was expected', () => {
  test.each([
    ['SecRule ARGS "@rx a" "phase:1"', '1:1: error: A rule needs an id (expected an action id:NUMBER)'],
    ['SecRule ARGS "@rx a" "id:x"', '1:26: error: This is not a rule id (near "x"; expected a whole number above 0)'],
    // A number with something beside it is none.
    ['SecRule ARGS "@rx a" "id:x1"', '1:26: error: This is not a rule id (near "x1"; expected a whole number above 0)'],
    ['SecRule ARGS "@rx a" "id:1x"', '1:26: error: This is not a rule id (near "1x"; expected a whole number above 0)'],
    [
      'SecRule ARGS "@rx a" "id:1,phase:6"',
      '1:34: error: This is not a phase (near "6"; expected 1 to 5, request, response or logging)',
    ],
    ['SecRule ARGZ "@rx a" "id:1"', '1:9: error: There is no variable ARGZ (near "ARGZ"; expected ARGS)'],
    [
      'SecRule REQUEST_URI:x "@rx a" "id:1"',
      '1:9: error: REQUEST_URI is a single value and takes no name (near "REQUEST_URI:x"; expected REQUEST_URI)',
    ],
    [
      'SecRule XML:/a/b "@rx a" "id:1"',
      '1:9: error: Only the XPaths /* (all text) and //@* (all attributes) are supported (near "/a/b"; expected /* or //@*)',
    ],
    [
      'SecRule ARGS "@containz a" "id:1"',
      '1:15: error: there is no operator @containz (near "@containz"; expected @contains)',
    ],
    [
      'SecRule ARGS "@within %{NOSUCH.x}" "id:1"',
      '1:23: error: This macro names no variable (near "%{NOSUCH.x}"; expected %{VARIABLE} or %{COLLECTION.name})',
    ],
    [
      'SecRule ARGS "@rx a" "id:1,t:lowercse"',
      '1:30: error: There is no such transformation (near "lowercse"; expected lowercase)',
    ],
    ['SecRule ARGS "@rx a" "id:1,dney"', '1:28: error: There is no such action (near "dney"; expected deny)'],
    [
      'SecRule ARGS "@rx a" "id:1,severity:BAD"',
      '1:37: error: This is not a severity (near "BAD"; expected 0 to 7 or emergency, alert, critical, error, warning, notice, info, debug)',
    ],
    [
      'SecRule ARGS "@rx a" "id:1,ctl:nosuch=1"',
      /1:32: error: There is no such ctl \(near "nosuch=1"; expected one of ruleengine, /,
    ],
    [
      'SecRule ARGS "@rx a" "id:1,setvar:foo.x=1"',
      '1:35: error: setvar cannot write this (near "foo.x=1"; expected tx, ip, global, session, user or resource, a dot and a name)',
    ],
    ['SecRule ARGS "@rx a" "id:1,msg"', '1:28: error: The action msg needs a value (near "msg"; expected a text)'],
    [
      'SecRule ARGS "@rx a" "id:1,deny,status:99"',
      '1:40: error: This is not an HTTP status (near "99"; expected 100 to 599)',
    ],
    [
      'SecRule !ARGS:x "@rx a" "id:1"',
      '1:9: error: This rule looks at nothing (near "!ARGS:x"; expected a variable to look at besides those left out)',
    ],
    [
      'SecRule ARGS_POST|FILES "@rx a" "id:1,phase:1"',
      '1:9: warning: All that this looks at is empty in phase 1, so this never matches (near "ARGS_POST"; expected phase:2 or a later one)',
    ],
    [
      'SecRule !REQUEST_COOKIES:a|RESPONSE_BODY "!@rx a" "id:1,phase:3"',
      '1:28: warning: RESPONSE_BODY is empty in phase 3, so this never matches (near "RESPONSE_BODY"; expected phase:4 or a later one)',
    ],
    ['SecAction "id:1,id:2"', '1:17: warning: A rule has one id: the last one counts (near "id:2")'],
    ['SecAction "id:1,phase:1,phase:2"', '1:25: warning: A rule has one phase: the last one counts (near "phase:2")'],
    ['SecAction "id:1,deny:403"', '1:22: error: The action deny takes no value (near "403")'],
    [
      'SecAction "id:1,sanitiseArg"',
      '1:17: error: The action sanitisearg needs a value (near "sanitisearg"; expected the name whose value is masked)',
    ],
    [
      'SecAction "id:1,expirevar:ip.x=soon"',
      '1:27: error: This is not a number of seconds (near "soon"; expected a whole number or a macro)',
    ],
    [
      'SecRule ARGS "@eq two" "id:1"',
      '1:19: warning: @eq compares with 0, which is what it reads here (near "two"; expected a whole number)',
    ],
    ['SecAction "id:1,ctl:ruleRemoveTargetById=1;NOSUCH"', /:1:21: error: There is no variable NOSUCH/],
    [
      'SecAction "id:1,msg:\'%{TX.}\'"',
      '1:21: error: This macro names nothing behind the dot (near "%{TX.}"; expected %{COLLECTION.name})',
    ],
    [
      'SecAction "id:1,msg:\'a %{tx.b\'"',
      '1:21: warning: This macro is never closed: it stands for itself (near "%{tx.b")',
    ],
    [
      'SecAction "id:1"\nSecRuleUpdateTargetById 1 "ARGS"',
      '2:28: error: The rule 1 is a SecAction and has no variables (near "ARGS")',
    ],
    ['\xef\xbb\xbfSecRuleEngine Yes', /^x.conf:1:15: error: SecRuleEngine expects/],
    ['SecRuleEnginee On', '1:1: error: There is no such directive (near "SecRuleEnginee"; expected secruleengine)'],
    [
      'SecRuleEngine Yes',
      '1:15: error: SecRuleEngine expects one of on, off, detectiononly (near "Yes"; expected one of on, off, detectiononly)',
    ],
    [
      'SecRequestBodyLimit 0',
      '1:21: error: SecRequestBodyLimit expects a whole number from 1 to 1073741824 (near "0"; expected a whole number from 1 to 1073741824)',
    ],
    ['SecRule ARGS "@rx a" "id:1,chain"', '1:1: error: The last chain is never finished (expected another SecRule)'],
    [
      'SecRule ARGS "@rx a" "id:1,chain"\nSecMarker X',
      '2:1: error: A chain is still open here (expected the next SecRule of the chain)',
    ],
    [
      'SecAction "id:1,pass,chain"\nSecAction "deny"',
      '2:12: error: deny belongs to the first rule of a chain (near "deny")',
    ],
    [
      'SecAction "id:1"\nSecAction "id:1"',
      '2:15: error: The id 1 is already taken by the rule at x.conf:1 (near "1"; expected an id of its own)',
    ],
    ['SecDefaultAction "pass"', '1:1: error: SecDefaultAction needs a phase (expected phase:1 to phase:5)'],
    [
      'SecRuleRemoveById abc',
      '1:19: error: This is not a list of rule ids (near "abc"; expected ids such as 941100 or 942000-942999)',
    ],
    [
      'SecRule ARGS "@pmFromFile none.data" "id:1"',
      /1:27: error: @pmfromfile cannot take this argument: .*this caller reads no files/,
    ],
  ])('%s', (text, problem) => {
    const [first] = problemsOf(text);
    if (typeof problem === 'string') expect(first).toBe(`x.conf:${problem}`);
    else expect(first).toMatch(problem);
  });

  test('a pattern that does not parse is told with its offset', () => {
    const [problem] = problemsOf('SecRule ARGS "@rx a(b" "id:1"');
    expect(problem).toMatch(/^x\.conf:1:\d+: error: @rx cannot take this argument: .* at offset \d/);
  });

  test('all of them at once, none hides another', () => {
    const text = 'SecRule NOSUCH "@nosuch" "id:1,nosuch"\nSecRule ARGS "@rx (" "id:2,t:nosuch"\nNoSuch\n';
    const { ruleSet, diagnostics } = compile([{ path: 'x.conf', text }]);
    expect(ruleSet).toBeNull();
    expect(diagnostics.map(({ line }) => line).sort()).toEqual([1, 1, 1, 2, 2, 3]);
  });
});

describe('what is not supported is refused with the reason', () => {
  test.each([
    ['SecRuleScript x.lua', 'Lua is not supported'],
    ['SecRule ARGS "@inspectFile x" "id:1"', 'runs a program'],
    ['SecRule ARGS "@rsub s/a/b/" "id:1"', 'rewrites'],
    ['SecAction "id:1,exec:/bin/x"', 'no process or script is started'],
    ['SecAction "id:1,proxy:http://x"', 'routed by the data plane'],
    ['SecRule SCRIPT_UID "@rx a" "id:1"', 'a reverse proxy serves no files'],
    ['SecAction "id:1,ctl:hashEngine=On"', 'responses are not rewritten'],
  ])('%s', (text, reason) => {
    const [problem] = problemsOf(text);
    expect(problem).toContain('not supported');
    expect(problem).toContain(reason);
  });
});

test('directives of the host that have no effect are warned about and the rules load', () => {
  const { ruleSet, diagnostics } = compile([
    {
      path: 'x.conf',
      text: 'SecTmpDir /tmp\nSecAuditLog /var/log/x\nSecAuditEngine RelevantOnly\nSecAuditLogParts ABIJDEFHZ\nSecDebugLogLevel 3\n',
    },
  ]);
  expect(ruleSet).not.toBeNull();
  expect(diagnostics.map(({ severity }) => severity)).toEqual(Array(5).fill('warning'));
});

test('a jump to a marker that does not follow is warned about', () => {
  expect(problemsOf('SecMarker END\nSecAction "id:1,pass,skipAfter:END"')).toEqual([
    'x.conf:2:32: warning: No marker or rule of this name follows: a match ends the phase (near "END"; expected the label of a SecMarker below)',
  ]);
});

test('data files are read relative to the file of the rule', () => {
  const asked: string[] = [];
  const readFile = (path: string): Uint8Array => {
    asked.push(path);
    return Buffer.from('evil\n');
  };
  compile([{ path: '/etc/rules/a.conf', text: 'SecRule ARGS "@pmFromFile words.data" "id:1"' }], { readFile });
  expect(new Set(asked)).toEqual(new Set(['/etc/rules/words.data']));
});

test('a file that is included is read, also where the caller knows no patterns; where it reads none that is an error', () => {
  const include = [{ path: '/etc/rules/a.conf', text: 'Include b.conf' }];
  const readFile = (path: string): Uint8Array => Buffer.from(path === '/etc/rules/b.conf' ? 'SecAction "id:7"' : 'Bad');
  const rule = 'SecAction "id:7"';
  const both = compile([...include, { path: 'x', text: rule }], { readFile });
  expect(both.diagnostics.map(formatDiagnostic)[0]).toContain(
    'The id 7 is already taken by the rule at /etc/rules/b.conf:1',
  );
  expect(compile(include, {}).ruleSet).toBeNull();
});

test.each([
  ['request', '2'],
  ['response', '4'],
  ['logging', '5'],
])('phase:%s is phase:%s', (name, phase) => {
  const text = `SecDefaultAction "phase:${phase},deny,status:418"\nSecAction "id:1,phase:${name},block"\nSecRuleEngine On`;
  const { ruleSet } = compile([{ path: 'x', text: `${text}\nSecAction "id:2,phase:${name},t:none"` }]);
  expect(ruleSet).not.toBeNull();
  if (phase === '2') expect(ruleSet!.inspect(given.request({})).status).toBe(418);
});

test.each([
  ['1', [[1, 1]]],
  ['10-20', [[10, 20]]],
  [
    ' 1, 3-3\t7,\n',
    [
      [1, 1],
      [3, 3],
      [7, 7],
    ],
  ],
  ['', null],
  [' , ', null],
  ['1-', null],
  ['-1', null],
  ['2-1', null],
  ['1 - 2', null],
  ['1x', null],
  ['1000000000000000', null],
])('ids written as %j', (text, ranges) => {
  expect(parseIdRanges(text)?.map(({ from, to }) => [from, to]) ?? null).toEqual(ranges);
});

const verdictOf = (text: string, query: string, env: CompileEnv = {}) => {
  const { ruleSet, diagnostics } = compile([{ path: 'x', text: `SecRuleEngine On\n${text}` }], env);
  expect(diagnostics).toEqual([]);
  return ruleSet!.inspect(given.request({ query }));
};

test.each([
  ['drop,status:403', 'drop', 403],
  ['redirect:/x,status:403', 'redirect', 302],
  ['redirect:/x,status:307', 'redirect', 307],
  ['pass,status:403', 'pass', 200],
  ['deny,status:418', 'block', 418],
])('%s: a status counts where the action has one', (actions, action, status) => {
  expect(verdictOf(`SecAction "id:1,phase:1,log,${actions}"`, '')).toMatchObject({ action, status });
});

test('a comparison of numbers looks at each of its targets', () => {
  const rule = 'SecRule TX:a|TX:b|&ARGS:c "@eq 1" "id:2,phase:1,deny"';
  const withTx = (name: string) =>
    verdictOf(`SecAction "id:1,phase:1,pass,nolog,setvar:tx.${name}=1"\n${rule}`, '').action;
  expect(['a', 'B', 'c'].map(withTx)).toEqual(['block', 'block', 'pass']);
  expect(verdictOf(rule, 'c=5').action).toBe('block');
  expect(verdictOf('SecRule &XML "@eq 0" "id:1,phase:2,deny"', '').action).toBe('block');
});

test('only in ModSecurity 3 a pattern begins at every line', () => {
  const rule = 'SecRule ARGS "@rx ^evil" "id:1,phase:1,deny,t:none"';
  expect(verdictOf(rule, 'a=x%0aevil').action).toBe('pass');
  expect(verdictOf(rule, 'a=x%0aevil', { dialect: 'modsecurity3' }).action).toBe('block');
});

test('a macro is the first value of its name, and nothing where there is none', () => {
  const message =
    '[%{ARGS}][%{args.B}][%{ARGS.none}][%{IP.none}][%{TX}][%{TX.none}][%{RULE.id}][%{RULE.none}][%{REQUEST_METHOD}]';
  const { matches } = verdictOf(`SecRule ARGS:b "@streq y" "id:1,phase:1,deny,log,msg:'${message}'"`, 'a=x&b=y&b=z');
  expect(matches[0]!.message).toBe('[x][y][][][][][1][][GET]');
});

test('SecArgumentSeparator takes one character, which then separates arguments', () => {
  const rule = 'SecRule ARGS:b "@streq evil" "id:1,phase:1,deny"';
  expect(verdictOf(rule, 'a=1;b=evil').action).toBe('pass');
  expect(verdictOf(`SecArgumentSeparator ;\n${rule}`, 'a=1;b=evil').action).toBe('block');
  expect(problemsOf('SecArgumentSeparator ;&')[0]).toContain('expects one character');
});

test('SecUnicodeMapFile changes what %u escapes decode to', () => {
  const readFile = (): Uint8Array => Buffer.from('20127 (US-ASCII)\n0100:7a 0101:79\n');
  const text = (setting: string) =>
    `${setting}\nSecRuleEngine On\nSecRule ARGS "@streq z" "id:1,phase:1,deny,t:none,t:urlDecodeUni"`;
  const judge = (setting: string) => {
    const { ruleSet, diagnostics } = compile([{ path: 'x', text: text(setting) }], { readFile });
    expect(diagnostics).toEqual([]);
    return ruleSet!.inspect(given.request({ query: 'a=%25u0100' })).action;
  };
  expect(judge('')).toBe('pass');
  expect(judge('SecUnicodeMapFile unicode.mapping 20127')).toBe('block');
  expect(problemsOf('SecUnicodeMapFile x 1252', { readFile })[0]).toContain('code page 1252');
});

test('text of any bytes gives diagnostics and never throws', () => {
  const random = createRandom(3);
  const pieces = [
    'SecRule',
    ' ARGS',
    ' "@rx ',
    '(',
    '"',
    "'",
    ' "id:',
    '1',
    ',',
    'chain',
    '\\',
    '\n',
    '#',
    '%{tx.',
    '}',
    '&',
    '!',
    ':/',
    '/',
    '|',
    '\0',
    '\xff',
    't:',
    'setvar:',
    'ctl:',
    'Include x',
    'SecMarker ',
  ];
  for (let round = 0; round < 3_000; round++) {
    const text = Array.from({ length: random(24) }, () => pieces[random(pieces.length)]!).join('');
    const { ruleSet, diagnostics } = compile([{ path: 'x', text }]);
    expect(ruleSet === null).toBe(diagnostics.some(({ severity }) => severity === 'error'));
    for (const { line, column } of diagnostics) expect(line > 0 && column > 0).toBe(true);
  }
});
