import { describe, expect, test } from 'vitest';
import { given } from '../../test/support/given.ts';
import { idsOf, judge, rules } from '../../test/support/judge.ts';
import { compileProgram } from '../engine/compile.ts';
import { createMemoryStore } from '../engine/run/memory-store.ts';
import { compile, formatDiagnostic } from '../index.ts';

const problemsOf = (text: string): string[] =>
  compile([{ path: 'x', text }]).diagnostics.map((one) => formatDiagnostic(one).replace(/^x:\d+:\d+: /, ''));
const action = (written: string): string => `SecAction "id:1,phase:1,pass,nolog,${written}"`;
const ruleWith = (written: string) =>
  compileProgram([{ path: 'x', text: `SecAction "id:1,phase:1,${written}"` }], {}).program!.rules[0]!;

describe('mistakes are told, and nothing is loaded', () => {
  test.each([
    ['initcol:ip', 'initcol cannot open this (near "ip"; expected ip, global, session, user or resource, = and a key)'],
    [
      'initcol:tx=a',
      'initcol cannot open this (near "tx=a"; expected ip, global, session, user or resource, = and a key)',
    ],
    [
      "initcol:'an ip=a'",
      'initcol cannot open this (near "an ip=a"; expected ip, global, session, user or resource, = and a key)',
    ],
    ['initcol', 'The action initcol needs a value (near "initcol"; expected collection=key)'],
    ['setsid', 'The action setsid needs a value (near "setsid"; expected a key)'],
    ['expirevar', 'The action expirevar needs a value (near "expirevar"; expected collection.name=seconds)'],
    ['expirevar:foo.x=1', 'expirevar cannot read this (near "foo.x=1"; expected collection.name=seconds)'],
    ["expirevar:'an ip.x=1'", 'expirevar cannot read this (near "an ip.x=1"; expected collection.name=seconds)'],
    ['expirevar:ip.x', 'expirevar cannot read this (near "ip.x"; expected collection.name=seconds)'],
    ['expirevar:ip.x=1m', 'This is not a number of seconds (near "1m"; expected a whole number or a macro)'],
    ['expirevar:ip.x=-1', 'This is not a number of seconds (near "-1"; expected a whole number or a macro)'],
    ['setenv', 'The action setenv needs a value (near "setenv"; expected NAME=value)'],
    ['setenv:=x', 'setenv cannot read this (near "=x"; expected NAME=value)'],
    ['setvar', 'The action setvar needs a value (near "setvar"; expected collection.name=value)'],
    ["setvar:'x tx.a=1'", /^error: setvar cannot write this \(near "x tx.a=1"/],
    ['setvar:tx.=1', /^error: setvar cannot write this/],
    ['status:99', 'This is not an HTTP status (near "99"; expected 100 to 599)'],
    ['status:600', 'This is not an HTTP status (near "600"; expected 100 to 599)'],
    ['status:403.5', 'This is not an HTTP status (near "403.5"; expected 100 to 599)'],
    ['status', 'This is not an HTTP status (expected 100 to 599)'],
    ['allow:all', 'This is not a scope of allow (near "all"; expected phase, request or nothing)'],
    ['redirect', 'The action redirect needs a value (near "redirect"; expected a URL)'],
    ['skipAfter', 'The action skipafter needs a value (near "skipafter"; expected a marker or rule id)'],
    ['t', 'The action t needs a value (near "t"; expected the name of a transformation)'],
    ['t:x', 'There is no such transformation (near "x"; expected a transformation of SecLang)'],
    ['unheardOf', 'There is no such action (near "unheardof"; expected an action of SecLang)'],
    ['msg', 'The action msg needs a value (near "msg"; expected a text)'],
    ['logdata', 'The action logdata needs a value (near "logdata"; expected a text)'],
    ['tag', 'The action tag needs a value (near "tag"; expected a text)'],
    ['rev', 'The action rev needs a value (near "rev"; expected a text)'],
    ['ver', 'The action ver needs a value (near "ver"; expected a text)'],
    ['severity:8', /^error: This is not a severity \(near "8"/],
    ['severity:-1', /^error: This is not a severity \(near "-1"/],
    ['severity', /^error: This is not a severity \(expected/],
    ['maturity:10', 'This is not a value of maturity (near "10"; expected 0 to 9)'],
    ['maturity', 'This is not a value of maturity (expected 0 to 9)'],
    ['accuracy:1.5', 'This is not a value of accuracy (near "1.5"; expected 0 to 9)'],
    ['accuracy:-1', 'This is not a value of accuracy (near "-1"; expected 0 to 9)'],
    ["xmlns:'x=y'", /^error: This is not an XML namespace/],
    ['xmlns', /^error: This is not an XML namespace/],
    [
      'sanitiseRequestHeader',
      'The action sanitiserequestheader needs a value (near "sanitiserequestheader"; expected the name whose value is masked)',
    ],
    ["msg:''", 'The action msg needs a value (near "msg"; expected a text)'],
    ["setuid:''", 'The action setuid needs a value (near "setuid"; expected a key)'],
    ['ctl', 'The action ctl needs a value (near "ctl"; expected option=value)'],
    ["ctl:'an ruleEngine=Off'", /^error: There is no such ctl/],
    ['ctl:ruleRemoveById=x', 'These are not rule ids (near "x"; expected ids such as 941100 or 942000-942999)'],
    ['ctl:ruleRemoveByTag=(', /^error: This pattern is not valid: .* \(near "\("/],
    ['ctl:ruleRemoveByMsg=(', /^error: This pattern is not valid: /],
    ['ctl:ruleRemoveTargetById=1', 'A target must follow the rules (near "1"; expected a semicolon and a variable)'],
    ['ctl:ruleRemoveTargetById=x;ARGS', /^error: These are not rule ids/],
    ['ctl:ruleRemoveTargetById=1;NOSUCH', /^error: There is no variable NOSUCH/],
    ['ctl:ruleRemoveTargetByTag=(;ARGS', /^error: This pattern is not valid: /],
  ])('%s', (written, problem) => {
    const text = action(written);
    expect(compile([{ path: 'x', text }]).ruleSet).toBeNull();
    const expected = typeof problem === 'string' ? `error: ${problem}` : expect.stringMatching(problem);
    expect(problemsOf(text)).toEqual([expected]);
  });

  test.each(['pass', 'block', 'deny', 'drop', 'allow', 'redirect:/x', 'id:2', 'phase:1'])(
    '%s within a chain',
    (written) => {
      const text = `SecAction "id:1,phase:1,pass,chain"\nSecAction "${written}"`;
      expect(problemsOf(text).join()).toMatch(
        /belongs to the first rule of a chain|Only the first rule of a chain has/,
      );
    },
  );

  test.each('pass block deny drop capture multimatch log nolog auditlog noauditlog sanitisematched chain'.split(' '))(
    'a value of %s',
    (name) => {
      const text = `SecAction "id:1,phase:1,${name}:x"\nSecAction "t:none"`;
      expect(problemsOf(text)).toContainEqual(`error: The action ${name} takes no value (near "x")`);
    },
  );

  test.each([
    ['append:x', 'responses are not rewritten'],
    ['prepend:x', 'responses are not rewritten'],
    ['deprecatevar:ip.x=1/2', 'use expirevar'],
    ['exec:/bin/x', 'no process or script is started'],
    ['pause:1', 'use a rate limit'],
    ['proxy:http://x/', 'use redirect or deny'],
  ])('%s is not supported, and why', (written, reason) => {
    expect(problemsOf(action(written))).toEqual([expect.stringMatching(`^error: .* is not supported: .*${reason}`)]);
  });

  test('expirevar of TX is told to do nothing, and loads', () => {
    expect(problemsOf(action('expirevar:tx.a=5'))).toEqual([
      'warning: TX ends with its transaction; expirevar has no effect on it (near "tx.a=5")',
    ]);
    expect(compile([{ path: 'x', text: action('expirevar:tx.a=5') }]).ruleSet).not.toBeNull();
  });
});

describe('collections', () => {
  test.each([
    ['setsid', 'SESSION', 'SESSIONID'],
    ['setuid', 'USER', 'USERID'],
    ['setrsc', 'RESOURCE', null],
  ])('%s opens %s under a key', (opens, collection, id) => {
    const text = `SecRule ARGS:key "@rx (.+)" "id:1,phase:1,pass,nolog,capture,${opens}:'%{TX.1}',setvar:${collection}.n=+1"
SecAction "id:2,phase:1,pass,log,msg:'%{${collection}.n} ${id === null ? '' : `%{${id}}`}'"`;
    const ruleSet = rules(text, { store: createMemoryStore() });
    const say = (query: string) => ruleSet.inspect(given.request({ query })).matches[0]!.message.trim();
    const named = (n: string, key: string) => (id === null ? n : `${n} ${key}`);
    expect(['key=a', 'key=b', 'key=a', ''].map(say)).toEqual([named('1', 'a'), named('1', 'b'), named('2', 'a'), '']);
  });

  test('what a rule sets, names by macros, takes away and lets expire', () => {
    const text = `${action('initcol:global=x')}
SecRule ARGS:set "@rx ." "id:2,phase:1,pass,nolog,setvar:'global.a_%{ARGS.set}=%{MATCHED_VAR}',setvar:global.b,setvar:global.c=9,setvar:global.c=-2"
SecRule ARGS:take "@rx ." "id:3,phase:1,pass,nolog,setvar:!global.b"
SecRule ARGS:end "@rx ." "id:4,phase:1,pass,nolog,expirevar:'GLOBAL.A_%{ARGS.end}=%{ARGS.after}'"
SecAction "id:9,phase:1,pass,log,msg:'%{global.a_x} %{global.b} %{global.c}'"`;
    const ruleSet = rules(text);
    const say = (query: string, second: number) =>
      ruleSet.inspect(given.request({ query, now: Date.UTC(2026, 0, 1) + second * 1_000 })).matches[0]!.message;
    expect(say('set=X', 0)).toBe('X 1 7');
    expect(say('take=1', 1)).toBe('X  7');
    expect(say('end=X&after=5', 1)).toBe('X  7');
    expect([say('', 5), say('', 7)]).toEqual(['X  7', '  7']);
  });

  test('setenv sets for this request, also by macros, without a value, and takes away', () => {
    const text = `${action("setenv:'Who=%{REMOTE_ADDR}',setenv:Flag,setenv: Gone =1,setenv:!Gone")}
SecAction "id:2,phase:1,pass,log,msg:'[%{ENV.who}][%{ENV.flag}][%{ENV.gone}]'"`;
    expect(judge(text).matches[0]!.message).toBe('[203.0.113.7][1][]');
  });
});

describe('setvar', () => {
  const left = (...assignments: string[]) => {
    const text = `${action(assignments.map((one) => `setvar:'${one}'`).join())}
SecAction "id:2,phase:1,pass,log,msg:'[%{tx.a}][%{tx.b}][%{tx.c}]'"`;
    return judge(text, { query: 'n=3&k=b' }).matches[0]!.message;
  };

  test.each([
    [['tx.a=x', ' tx.b = y'], '[x][ y][]'],
    [['TX.A=x', 'tx:b=2'], '[x][2][]'],
    [['tx.a', 'tx.b=%{tx.a}%{ARGS.n}'], '[1][13][]'],
    [['tx.a=x', '! tx.a'], '[][][]'],
    [['tx.a=+2', 'tx.a=+%{ARGS.n}', 'tx.b=-%{ARGS.n}'], '[5][-3][]'],
    [['tx.a=007', 'tx.a=+1', 'tx.b=7up', 'tx.b=+1', 'tx.c=up', 'tx.c=-1'], '[8][8][-1]'],
    [['tx.%{ARGS.k}=4', 'tx.%{ARGS.k}=+1', 'tx.b=+1'], '[][6][]'],
    [['tx.b=4', '!tx.%{ARGS.k}'], '[][][]'],
    [['tx.a=a=b'], '[a=b][][]'],
  ])('%j', (assignments, expected) => {
    expect(left(...assignments)).toBe(expected);
  });
});

describe('ctl', () => {
  const target = `SecRule ARGS|REQUEST_COOKIES "@contains evil" "id:100,phase:2,deny,log,tag:'x y',msg:'Evil'"`;
  const removes = (control: string) =>
    judge(`${action(`ctl:'${control}'`)}\n${target}`, { query: 'a=evil' }).action === 'pass';

  test.each([
    'ruleRemoveById= 100 ',
    ' ruleRemoveByTag = x y ',
    'ruleRemoveByMsg= Evil ',
    'ruleRemoveTargetById= 100 ; ARGS ',
    'ruleRemoveTargetByTag= x y ;ARGS:a',
    'ruleRemoveTargetByMsg= Evil ;ARGS:/^a$/',
    'ruleEngine= off ',
  ])('takes blanks around what it is told: %s', (control) => {
    expect(removes(control)).toBe(true);
  });

  test.each(['ruleRemoveTargetByTag=x y;ARGS:b', 'ruleRemoveTargetByMsg=Tag;ARGS', 'ruleRemoveTargetById=100;FILES'])(
    'leaves the rest: %s',
    (control) => {
      expect(removes(control)).toBe(false);
    },
  );

  test('responseBodyAccess decides whether the body of a response is looked at', () => {
    const text = 'SecRule RESPONSE_BODY "@contains evil" "id:2,phase:4,deny"';
    const response = {
      status: 200,
      headers: [[Buffer.from('Content-Type'), Buffer.from('text/html')]],
      body: Buffer.from('evil'),
    } as const;
    const answer = (before: string) =>
      rules(`${before}\n${text}`).begin(given.request({})).inspectResponse(response).action;
    expect([answer(''), answer(action('ctl:responseBodyAccess=Off'))]).toEqual(['block', 'pass']);
    expect(answer(`SecResponseBodyAccess Off\n${action('ctl:responseBodyAccess=On')}`)).toBe('block');
  });

  test('forceRequestBodyVariable decides whether there is REQUEST_BODY of a body that has a processor', () => {
    const text = 'SecRule REQUEST_BODY "@rx ." "id:2,phase:2,deny"';
    const request = {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: '--b--\r\n',
    };
    const ids = (before: string) => idsOf(judge(`${before}\n${text}`, request));
    expect([ids(''), ids(action('ctl:forceRequestBodyVariable=On'))]).toEqual([[], [2]]);
    expect(ids(action('ctl:forceRequestBodyVariable=On,ctl:forceRequestBodyVariable=Off'))).toEqual([]);
  });

  test('debugLogLevel is told to have no effect, and loads', () => {
    expect(problemsOf(action('ctl:debugLogLevel=9'))).toEqual([
      expect.stringMatching(/^warning: There is no debug log/),
    ]);
    expect(judge(`${action('ctl:debugLogLevel=9')}\n${target}`, { query: 'a=evil' }).action).toBe('block');
  });
});

describe('what a rule says of itself', () => {
  test('is kept as written', () => {
    const rule = ruleWith("pass,rev:'2',ver:'v/1',maturity:9,accuracy:0,severity:'Notice',tag:'a',tag:'b'");
    expect(rule).toMatchObject({ revision: '2', version: 'v/1', severity: 5 });
    expect(rule.tags.map(({ constant }) => constant)).toEqual(['a', 'b']);
    expect(['0', '7', 'emergency', 'DEBUG'].map((word) => ruleWith(`pass,severity:${word}`).severity)).toEqual([
      0, 7, 0, 7,
    ]);
    expect(['100', '599'].map((status) => ruleWith(`deny,status:${status}`).disruption)).toEqual([
      { kind: 'deny', status: 100 },
      { kind: 'deny', status: 599 },
    ]);
  });

  test.each([
    ['pass', true],
    ['nolog', false],
    ['nolog,log', true],
    ['nolog,auditlog', false],
    ['noauditlog', true],
    ['log,nolog', false],
  ])('%s: told to the caller, who keeps the log: %s', (written, isLogged) => {
    expect(ruleWith(written)).toMatchObject({ isLogged });
  });

  test.each([
    'sanitiseMatched',
    'sanitiseMatchedBytes',
    'sanitiseArg:Answer',
    'sanitiseRequestHeader:answer',
    'sanitiseResponseHeader:answer',
  ])('%s masks what it matched', (written) => {
    const text = `SecRule ARGS:answer "@rx ." "id:1,phase:1,pass,log,msg:'%{MATCHED_VAR}',${written}"
SecRule ARGS "@rx ." "id:2,phase:1,pass,log"`;
    expect(judge(text, { query: 'Answer=blue' }).matches).toMatchObject([
      { id: 1, message: '***', snippet: '***' },
      { id: 2, snippet: '***' },
    ]);
    expect(judge(text, { query: 'other=blue' }).matches).toMatchObject([{ id: 2, snippet: 'blue' }]);
  });

  test('an XML namespace is read and has no effect', () => {
    expect(problemsOf(action("xmlns:'soap=http://schemas.example/soap'"))).toEqual([]);
    expect(problemsOf(action('xmlns:"soap=\'https://schemas.example/soap"'.replaceAll('"', '')))).toEqual([]);
  });
});
