import { describe, expect, test } from 'vitest';
import { type GivenRequest, given } from '../../test/support/given.ts';
import { fired, idsOf, judge, rules } from '../../test/support/judge.ts';
import { compile, type WafResponse } from '../index.ts';

describe('what a rule may do to a request', () => {
  test.each([
    ['deny', { action: 'block', status: 403 }],
    ['deny,status:418', { action: 'block', status: 418 }],
    ['drop', { action: 'drop', status: 403 }],
    ['redirect:https://a.example/%{ARGS.a}', { action: 'redirect', status: 302, redirectUrl: 'https://a.example/x' }],
    ['redirect:https://a.example/,status:307', { action: 'redirect', status: 307 }],
    ['pass', { action: 'pass', status: 200, ruleId: null }],
    ['block', { action: 'pass', status: 200, ruleId: null }],
  ])('%s', (action, expected) => {
    const verdict = judge(`SecRule ARGS "@streq x" "id:7,phase:1,log,${action}"`, { query: 'a=x' });
    expect(verdict).toMatchObject(expected);
    expect(verdict.matches).toMatchObject([{ id: 7, isDecisive: expected.action !== 'pass' }]);
  });

  test('block means what SecDefaultAction says for the phase', () => {
    const text = 'SecDefaultAction "phase:1,log,deny,status:406"\nSecAction "id:1,phase:1,block"';
    expect(judge(text)).toMatchObject({ action: 'block', status: 406, ruleId: 1 });
  });

  test('in detection only nothing is refused, and the verdict says what would have been', () => {
    const text = 'SecRuleEngine DetectionOnly\nSecAction "id:1,phase:1,deny"\nSecAction "id:2,phase:2,pass,log"';
    const verdict = judge(text);
    expect(verdict).toMatchObject({ action: 'pass', status: 200, wouldBe: 'block', isDetectionOnly: true, ruleId: 1 });
    expect(idsOf(verdict)).toEqual([1, 2]);
    expect(judge(text, {}, { mode: 'block' })).toMatchObject({ action: 'block', ruleId: 1 });
  });

  test('nothing is judged while the engine is off', () => {
    expect(judge('SecRuleEngine Off\nSecAction "id:1,phase:1,deny"')).toMatchObject({ action: 'pass', matches: [] });
  });

  test.each([
    ['allow', []],
    ['allow:phase', [3, 4]],
    ['allow:request', [4]],
  ])('%s leaves out later rules', (action, left) => {
    const text = `SecAction "id:1,phase:1,nolog,${action}"\nSecAction "id:2,phase:1,log,pass"\nSecAction "id:3,phase:2,log,pass"\nSecAction "id:4,phase:3,log,pass"`;
    const response: WafResponse = { status: 200, headers: [], body: null };
    expect(idsOf(rules(text).begin(given.request({})).inspectResponse(response))).toEqual(left);
  });
});

describe('order', () => {
  test('is that of the file within each phase, logging last, after a refusal too', () => {
    const text =
      'SecAction "id:5,phase:5,log,pass"\nSecAction "id:2,phase:2,log,deny"\nSecAction "id:3,phase:2,log,pass"\nSecAction "id:1,phase:1,log,pass"';
    expect(fired(text)).toEqual([1, 2, 5]);
  });

  test('skipAfter and skip jump within their phase only', () => {
    const text = `SecAction "id:1,phase:1,pass,nolog,skipAfter:END"
SecAction "id:2,phase:1,pass,log"
SecAction "id:3,phase:2,pass,log,skip:1"
SecMarker END
SecAction "id:4,phase:2,pass,log"
SecAction "id:5,phase:2,pass,log"
SecAction "id:6,phase:1,pass,log"`;
    expect(fired(text)).toEqual([6, 3, 5]);
  });

  test('a chain fires when every link matches; setvar runs per link and per value, the decision belongs to the head', () => {
    const text = `SecRule ARGS "@contains a" "id:1,phase:2,deny,log,msg:'%{tx.n} %{MATCHED_VAR_NAME}',setvar:tx.n=+1,chain"
  SecRule ARGS:b "@streq %{ARGS.c}" "setvar:tx.done=1"
SecRule TX:n "@ge 1" "id:2,phase:5,pass,log,msg:'n=%{tx.n} done=%{tx.done}'"`;
    expect(judge(text, { query: 'x=a&y=aa&b=1&c=2' })).toMatchObject({
      action: 'pass',
      matches: [{ id: 2, message: 'n=2 done=' }],
    });
    expect(judge(text, { query: 'x=a&b=1&c=1' })).toMatchObject({
      action: 'block',
      ruleId: 1,
      matches: [{ message: '1 ARGS:b' }, { id: 2 }],
    });
  });
});

describe('variables', () => {
  const echo = (variable: string) =>
    `SecRule ${variable} "@unconditionalMatch" "id:1,phase:2,pass,log,msg:'%{MATCHED_VAR}'"`;
  const last = (variable: string, request: GivenRequest): string | undefined =>
    judge(echo(variable), request).matches[0]?.message;

  test.each([
    ['REQUEST_LINE', { path: '/a%20b', query: 'c' }, 'GET /a%20b?c HTTP/1.1'],
    ['REQUEST_URI', { path: 'http://x.example/a', query: 'c=d' }, '/a?c=d'],
    ['REQUEST_URI_RAW', { path: 'http://x.example/a', query: 'c=d' }, 'http://x.example/a?c=d'],
    ['REQUEST_FILENAME', { path: '/a%41/b+c', query: 'd' }, '/aA/b+c'],
    ['REQUEST_BASENAME', { path: '/x/y.php', query: 'a=/z' }, 'y.php'],
    ['QUERY_STRING', { query: 'a=%41' }, 'a=%41'],
    ['ARGS:a', { query: 'a=%41+b' }, 'A b'],
    ['ARGS_NAMES', { query: 'x%20y=1' }, 'x y'],
    ['REQUEST_HEADERS:x-thing', { headers: { 'X-Thing': 'v' } }, 'v'],
    ['REQUEST_COOKIES:b', { headers: { Cookie: 'a=1; b=2=3;c' } }, '2=3'],
    ['REQUEST_COOKIES_NAMES', { headers: { Cookie: 'a=1; b' } }, 'b'],
    ['&ARGS', { query: 'a=1&b=2&a=3' }, '3'],
    ['&ARGS:A', { query: 'a=1&b=2&a=3' }, '2'],
    ['ARGS_COMBINED_SIZE', { query: 'ab=cd&e=f' }, '6'],
    ['REMOTE_ADDR', { clientAddress: '2001:db8::1' }, '2001:db8::1'],
    ['REMOTE_USER', { headers: { Authorization: 'Basic dXNlcjpwdw==' } }, 'user'],
    ['SERVER_NAME', { headers: { Host: 'A.example:81' } }, 'A.example'],
    ['TIME_EPOCH', { now: 1_700_000_000_500 }, '1700000000'],
    ['TIME', { now: Date.UTC(2026, 0, 2, 3, 4, 5) }, '03:04:05'],
    [
      'REQUEST_BODY',
      { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=%41' },
      'a=%41',
    ],
    [
      'ARGS_POST:a',
      { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=%41' },
      'A',
    ],
    [
      'REQUEST_BODY_LENGTH',
      { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=%41' },
      '5',
    ],
  ] as const)('%s', (variable, request, expected) => {
    expect(last(variable, request)).toBe(expected);
  });

  const multipart = [
    ...['--b', 'Content-Disposition: form-data; name="field"', '', 'value'],
    ...[
      '--b',
      'Content-Disposition: form-data; name="upload"; filename="a.php"',
      'Content-Type: text/plain',
      '',
      '<?php',
      '--b--',
      '',
    ],
  ].join('\r\n');

  test.each([
    ['ARGS_POST:field', 'value'],
    ['FILES:upload', 'a.php'],
    ['FILES_NAMES', 'upload'],
    ['FILES_SIZES:upload', '5'],
    ['FILES_TMP_CONTENT:upload', '<?php'],
    ['FILES_COMBINED_SIZE', '5'],
    ['MULTIPART_FILENAME', 'a.php'],
    ['MULTIPART_PART_HEADERS:upload', 'Content-Type: text/plain'],
    ['MULTIPART_STRICT_ERROR', '0'],
  ])('%s of a multipart body', (variable, expected) => {
    expect(
      last(variable, {
        method: 'POST',
        headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
        body: multipart,
      }),
    ).toBe(expected);
  });

  test.each([
    ['JSON', 'ARGS:json.items.array_0.sku', '{"items":[{"sku":"A-1"}]}', 'A-1'],
    ['JSON', 'REQBODY_ERROR', '{"a":', '1'],
    ['XML', 'XML:/*', '<a x="1">b<c>d</c></a>', 'bd'],
    ['XML', 'XML://@*', '<a x="1">b</a>', '1'],
    ['XML', 'REQBODY_PROCESSOR', '<a/>', 'XML'],
  ])('of a body that ctl sends to the %s parser: %s', (processor, variable, body, expected) => {
    const text = `SecAction "id:9,phase:1,pass,nolog,ctl:requestBodyProcessor=${processor}"\n${echo(variable)}`;
    expect(judge(text, { method: 'POST', body }).matches[0]?.message).toBe(expected);
  });

  test('of the response come with phases 3 and 4', () => {
    const text = ['RESPONSE_STATUS', 'RESPONSE_HEADERS:X-A', 'RESPONSE_BODY', 'RESPONSE_CONTENT_TYPE']
      .map(
        (variable, at) =>
          `SecRule ${variable} "@unconditionalMatch" "id:${at + 1},phase:4,pass,log,msg:'%{MATCHED_VAR}'"`,
      )
      .join('\n');
    const headers = [
      ['Content-Type', 'text/html; charset=x'],
      ['X-A', 'b'],
    ].map(([name, value]) => [Buffer.from(name!), Buffer.from(value!)] as const);
    const verdict = rules(text)
      .begin(given.request({}))
      .inspectResponse({ status: 404, headers, body: Buffer.from('oops') });
    expect(verdict.matches.map(({ message }) => message)).toEqual(['404', 'b', 'oops', 'text/html; charset=x']);
  });

  test('of a response body of another media type are not there', () => {
    const ruleSet = rules('SecRule RESPONSE_BODY "@rx ." "id:1,phase:4,deny"');
    const answer = (type: string): WafResponse => ({
      status: 200,
      headers: [[Buffer.from('content-type'), Buffer.from(type)]],
      body: Buffer.from('x'),
    });
    expect(ruleSet.begin(given.request({})).inspectResponse(answer('image/png')).action).toBe('pass');
    expect(ruleSet.begin(given.request({})).inspectResponse(answer('text/html')).action).toBe('block');
  });
});

describe('TX', () => {
  test('counts, is set by name from macros, and is unset', () => {
    const text = `SecAction "id:1,phase:1,pass,nolog,setvar:tx.a=5,setvar:tx.a=+3,setvar:tx.a=-1,setvar:tx.flag,setvar:'tx.x_%{ARGS.n}=%{tx.a}',setvar:tx.gone=1,setvar:!tx.gone"
SecAction "id:2,phase:1,pass,log,msg:'%{tx.a} %{TX.FLAG} %{tx.x_k} [%{tx.gone}]'"
SecRule TX:/^x_/ "@eq 7" "id:3,phase:1,pass,log"`;
    const verdict = judge(text, { query: 'n=K' });
    expect(verdict.matches.map(({ id, message, variable }) => [id, message, variable])).toEqual([
      [2, '7 1 7 []', ''],
      [3, '', 'TX:x_k'],
    ]);
  });

  test('holds the groups of the last capturing match, and forgets those that took no part', () => {
    const text = `SecRule ARGS:a "@rx (x)(y)?(z)" "id:1,phase:1,pass,log,capture,msg:'[%{tx.0}][%{tx.1}][%{tx.2}][%{tx.3}]'"
SecRule ARGS:b "@pm bar foo" "id:2,phase:1,pass,log,capture,msg:'[%{tx.0}]'"`;
    const messages = (query: string) => judge(text, { query }).matches.map(({ message }) => message);
    expect(messages('a=_xyz_')).toEqual(['[xyz][x][y][z]']);
    expect(messages('a=_xz_&b=a+FOO')).toEqual(['[xz][x][][z]', '[foo]']);
  });
});

describe('gates that are settled at load', () => {
  const gated = `SecAction "id:1,phase:1,pass,nolog,setvar:tx.level=1"
SecRule ARGS:a "@streq x" "id:2,phase:2,pass,log"
SecRule TX:level "@lt 2" "id:3,phase:2,pass,nolog,skipAfter:END"
SecRule ARGS:a "@streq x" "id:4,phase:2,pass,log"
SecMarker END
SecRule MATCHED_VAR_NAME "@streq TX:level" "id:5,phase:2,pass,log,msg:'%{MATCHED_VAR}',chain"
  SecRule MATCHED_VARS "@streq TX:level" "setvar:tx.seen=1"`;

  test('leave out what is behind them, and what they matched is still seen', () => {
    expect(fired(gated, { query: 'a=x' })).toEqual([2, 5]);
    expect(fired(gated, { query: 'a=y' })).toEqual([5]);
  });

  test('let through what is behind them when they are taken out, by a rule or for a request', () => {
    const removal = `SecRule ARGS:b "@streq x" "id:9,phase:1,pass,nolog,ctl:ruleRemoveById=3"\n`;
    expect(fired(removal + gated, { query: 'a=x' })).toEqual([2, 5]);
    expect(fired(removal + gated, { query: 'a=x&b=x' })).toEqual([2, 4]);
    const request = given.request({ query: 'a=x' });
    expect(idsOf(rules(gated).inspect({ ...request, exclusions: [{ ruleId: 3 }] }))).toEqual([2, 4]);
  });

  test('stay open where any rule may write what they read', () => {
    const raised = `${gated.replace('SecRule ARGS:a', `SecRule ARGS:b "@streq x" "id:9,phase:2,pass,nolog,setvar:tx.level=2"\nSecRule ARGS:a`)}`;
    expect(fired(raised, { query: 'a=x&b=x' })).toEqual([2, 4]);
    expect(fired(raised, { query: 'a=x' })).toEqual([2, 5]);
  });
});

test('an operator with a macro answers by the argument of each request', () => {
  const text = `SecRule ARGS:of "@rx .*" "id:1,phase:1,pass,nolog,capture,setvar:tx.allowed=%{tx.0}"
SecRule ARGS:a "@rx .*" "id:2,phase:1,pass,nolog,capture,setvar:tx.x_%{tx.0}=%{tx.0}"
SecRule TX:/^x_/ "@within %{tx.allowed}" "id:3,phase:1,pass,log"
SecRule TX:/^x_/ "!@within %{tx.allowed}" "id:4,phase:1,pass,log"`;
  const ruleSet = rules(text);
  const ids = (query: string): number[] => idsOf(ruleSet.inspect(given.request({ query })));
  for (let round = 0; round < 2; round++) {
    expect(ids('of=one+two&a=two')).toEqual([3]);
    expect(ids('of=one+three&a=two')).toEqual([4]);
    expect(ids('of=one+two&a=three')).toEqual([4]);
    expect(ids('of=one+three&a=three')).toEqual([3]);
  }
});

describe('transformations', () => {
  test('run in order; t:none drops those of SecDefaultAction', () => {
    const text = (actions: string) =>
      `SecDefaultAction "phase:1,log,pass,t:lowercase"\nSecRule ARGS "@streq ab" "id:1,phase:1${actions}"`;
    expect(fired(text(''), { query: 'a=AB' })).toEqual([1]);
    expect(fired(text(',t:none'), { query: 'a=AB' })).toEqual([]);
    expect(fired(text(',t:none,t:urlDecodeUni,t:lowercase'), { query: 'a=%2541B' })).toEqual([1]);
  });

  test('with multiMatch every changed stage is looked at', () => {
    const text = (actions: string) =>
      `SecRule ARGS "@rx ^%41$" "id:1,phase:1,pass,log,t:urlDecode,t:lowercase${actions}"`;
    expect(fired(text(''), { query: 'a=%2541' })).toEqual([]);
    expect(fired(text(',multiMatch'), { query: 'a=%2541' })).toEqual([1]);
  });
});

describe('what the caller knows', () => {
  test('@geoLookup fills GEO, @rbl asks for block lists; without them they warn and never match', () => {
    const text = `SecRule REMOTE_ADDR "@geoLookup" "id:1,phase:1,pass,nolog,chain"
  SecRule GEO:COUNTRY_CODE "@streq FR" "setvar:tx.fr=1"
SecRule TX:fr "@eq 1" "id:2,phase:1,pass,log,msg:'%{GEO.COUNTRY_CODE}'"
SecRule REMOTE_ADDR "@rbl list.example" "id:3,phase:1,pass,log"`;
    const geo = (address: string) => (address === '203.0.113.7' ? { COUNTRY_CODE: 'FR' } : null);
    const blockList = (zone: string, address: string) => zone === 'list.example' && address === '203.0.113.7';
    expect(idsOf(rules(text, { geo, blockList }).inspect(given.request({})))).toEqual([2, 3]);
    expect(idsOf(rules(text, { geo, blockList }).inspect(given.request({ clientAddress: '192.0.2.9' })))).toEqual([]);
    expect(idsOf(rules(text).inspect(given.request({})))).toEqual([]);
    expect(compile([{ path: 'x', text }]).diagnostics.map(({ severity, line }) => [severity, line])).toEqual([
      ['warning', 1],
      ['warning', 4],
    ]);
  });
});
