import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type GivenRequest, given } from '../../test/support/given.ts';
import { judge, rules } from '../../test/support/judge.ts';
import { compile, type Limits, type WafRequest, type WafResponse } from '../index.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const headersOf = (headers: Readonly<Record<string, string>>): WafResponse['headers'] =>
  Object.entries(headers).map(([name, value]) => [bytes(name), bytes(value)]);

/** Notes the name and value of all that a rule of that phase sees in a variable. */
const noting = (variable: string, phase: number) =>
  `SecRule ${variable} "@unconditionalMatch" "id:90,phase:${phase},pass,nolog,setvar:'tx.all=%{tx.all}|%{MATCHED_VAR_NAME} %{MATCHED_VAR}'"
SecAction "id:91,phase:${phase},pass,log,msg:'%{tx.all}'"`;

type Exchange = { readonly request?: WafRequest; readonly response?: WafResponse; readonly limits?: Limits };

/** What a variable holds behind the rules of `before`: "NAME value" each, in the order in which they are looked at. */
const held = (variable: string, { request = given.request({}), response, limits }: Exchange, before = ''): string[] => {
  const text = `${before}\n${noting(variable, response === undefined ? 2 : 4)}`;
  const transaction = rules(text).begin(request, limits);
  const verdict = response === undefined ? transaction.end() : transaction.inspectResponse(response);
  return verdict.matches
    .find(({ id }) => id === 91)!
    .message.split('|')
    .slice(1);
};

const form: GivenRequest = {
  method: 'POST',
  query: 'q=1',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: 'c=2' },
  body: 'b=3',
};

test.each([
  ['ARGS', ['ARGS:q 1', 'ARGS:b 3']],
  ['ARGS_GET', ['ARGS_GET:q 1']],
  ['ARGS_POST', ['ARGS_POST:b 3']],
  ['ARGS_NAMES', ['ARGS_NAMES:q q', 'ARGS_NAMES:b b']],
  ['ARGS_GET_NAMES', ['ARGS_GET_NAMES:q q']],
  ['ARGS_POST_NAMES', ['ARGS_POST_NAMES:b b']],
  [
    'REQUEST_HEADERS:/^co/',
    ['REQUEST_HEADERS:Content-Type application/x-www-form-urlencoded', 'REQUEST_HEADERS:Cookie c=2'],
  ],
  ['REQUEST_HEADERS_NAMES:cookie', ['REQUEST_HEADERS_NAMES:Cookie Cookie']],
  ['REQUEST_COOKIES', ['REQUEST_COOKIES:c 2']],
  ['REQUEST_COOKIES_NAMES', ['REQUEST_COOKIES_NAMES:c c']],
  ['REQUEST_METHOD', ['REQUEST_METHOD POST']],
  ['REQUEST_PROTOCOL', ['REQUEST_PROTOCOL HTTP/1.1']],
  ['REQUEST_LINE', ['REQUEST_LINE POST /?q=1 HTTP/1.1']],
  ['REQUEST_URI|REQUEST_URI_RAW', ['REQUEST_URI /?q=1', 'REQUEST_URI_RAW /?q=1']],
  ['REQUEST_FILENAME|REQUEST_BASENAME', ['REQUEST_FILENAME /', 'REQUEST_BASENAME ']],
  ['PATH_INFO', ['PATH_INFO /']],
  ['QUERY_STRING', ['QUERY_STRING q=1']],
  ['REQUEST_BODY', ['REQUEST_BODY b=3']],
  ['REQUEST_BODY_LENGTH', ['REQUEST_BODY_LENGTH 3']],
  ['REQBODY_PROCESSOR', ['REQBODY_PROCESSOR URLENCODED']],
  ['REQBODY_ERROR|REQBODY_PROCESSOR_ERROR', ['REQBODY_ERROR 0', 'REQBODY_PROCESSOR_ERROR 0']],
  ['ARGS_COMBINED_SIZE', ['ARGS_COMBINED_SIZE 4']],
  ['URLENCODED_ERROR', ['URLENCODED_ERROR 0']],
  ['INBOUND_DATA_ERROR|OUTBOUND_DATA_ERROR', ['INBOUND_DATA_ERROR 0', 'OUTBOUND_DATA_ERROR 0']],
  ['REMOTE_ADDR|REMOTE_HOST|REMOTE_PORT', ['REMOTE_ADDR 203.0.113.7', 'REMOTE_HOST 203.0.113.7', 'REMOTE_PORT 50000']],
  ['SERVER_ADDR|SERVER_PORT|SERVER_NAME', ['SERVER_ADDR 192.0.2.1', 'SERVER_PORT 443', 'SERVER_NAME shop.example']],
  ['UNIQUE_ID|WEBAPPID', ['UNIQUE_ID test-1', 'WEBAPPID default']],
  ['MSC_PCRE_ERROR|MSC_PCRE_LIMITS_EXCEEDED', ['MSC_PCRE_ERROR 0', 'MSC_PCRE_LIMITS_EXCEEDED 0']],
  ['MODSEC_BUILD|HIGHEST_SEVERITY', ['MODSEC_BUILD 030000000', 'HIGHEST_SEVERITY 255']],
  // Neither was opened, and the caller has no clock.
  ['SESSIONID|USERID|DURATION|REMOTE_USER|AUTH_TYPE', []],
  ['RESPONSE_STATUS|RESPONSE_CONTENT_TYPE|RESPONSE_CONTENT_LENGTH', []],
])('%s of a form', (variable, expected) => {
  expect(held(variable, { request: given.request(form) })).toEqual(expected);
});

describe('FULL_REQUEST', () => {
  const head =
    'POST /?q=1 HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/x-www-form-urlencoded\r\nCookie: c=2\r\n\r\n';
  const length = (request: GivenRequest, before = '') =>
    Number(held('FULL_REQUEST_LENGTH', { request: given.request(request) }, before)[0]?.split(' ')[1]);

  test('is all of a request as HTTP/1 writes it', () => {
    const seen = held('FULL_REQUEST', { request: given.request(form) });
    expect(seen).toEqual([
      `FULL_REQUEST ${head}b=3`.replaceAll(/[\r\n]/g, (end) => (end === '\r' ? '\\x0d' : '\\x0a')),
    ]);
    expect(length(form)).toBe(head.length + 3);
  });

  test.each([
    ['@beginsWith POST /?q=1 HTTP/1.1', [1]],
    ['@contains Cookie: c=2', [1]],
    ['@endsWith b=3', [1]],
    ['@contains b=4', []],
  ])('is found by %s', (operator, ids) => {
    const text = `SecRule FULL_REQUEST "${operator}" "id:1,phase:2,deny"`;
    expect(judge(text, form).matches.map(({ id }) => id)).toEqual(ids);
  });

  test('has the body where it is looked at, from phase 2 on, and as it is once its coding is undone', () => {
    const early = `SecRule FULL_REQUEST "@rx c=2\\x0d\\n\\x0d\\n\\z" "id:1,phase:1,pass,log"`;
    expect(judge(early, form).matches.map(({ id }) => id)).toEqual([1]);
    expect(length(form, 'SecRequestBodyAccess Off')).toBe(head.length);
    const packed = { ...form, headers: { ...form.headers, 'Content-Encoding': 'gzip' }, body: gzipSync('b=evil') };
    expect(judge('SecRule FULL_REQUEST "@contains b=evil" "id:1,phase:2,deny"', packed).action).toBe('block');
  });

  test('is shown to nobody, as there are secrets in it, and costs work each time', () => {
    const text = `SecRule FULL_REQUEST "@contains c=2" "id:1,phase:2,deny,log,logdata:'%{MATCHED_VAR}'"`;
    expect(judge(text, form).matches).toMatchObject([{ variable: 'FULL_REQUEST', snippet: '***', data: '***' }]);
    const rules = Array.from({ length: 20 }, (_, at) =>
      text.replace('c=2', 'absent').replace('id:1', `id:${at + 1}`),
    ).join('\n');
    expect(judge(rules, form, { workUnits: 10 * head.length })).toMatchObject({ action: 'block', limitsHit: ['work'] });
    expect(judge(rules, form, { workUnits: 100 * head.length })).toMatchObject({ action: 'pass', limitsHit: [] });
  });
});

describe('what is wrong with a request', () => {
  test.each<[string, GivenRequest, string[]]>([
    ['URLENCODED_ERROR', { query: 'a=%zz' }, ['URLENCODED_ERROR 1']],
    ['URLENCODED_ERROR', { ...form, body: 'a=%4' }, ['URLENCODED_ERROR 1']],
    [
      'REQBODY_ERROR|REQBODY_PROCESSOR_ERROR|REQBODY_ERROR_MSG|REQBODY_PROCESSOR_ERROR_MSG',
      { method: 'POST', headers: { 'Content-Type': 'multipart/form-data' }, body: 'x' },
      [
        'REQBODY_ERROR 1',
        'REQBODY_PROCESSOR_ERROR 1',
        'REQBODY_ERROR_MSG Multipart: no boundary.',
        'REQBODY_PROCESSOR_ERROR_MSG Multipart: no boundary.',
      ],
    ],
  ])('%s of %j', (variable, request, expected) => {
    expect(held(variable, { request: given.request(request) })).toEqual(expected);
  });

  test('that the engine saw a part only, or ran out of work', () => {
    const request = { ...given.request(form), bodyTruncated: true };
    expect(held('INBOUND_DATA_ERROR', { request })).toEqual(['INBOUND_DATA_ERROR 1']);
    const response: WafResponse = { status: 200, headers: [], body: bytes('x'), bodyTruncated: true };
    expect(held('OUTBOUND_DATA_ERROR', { response })).toEqual(['OUTBOUND_DATA_ERROR 1']);
    const spent = `SecRule ARGS "@rx a" "id:1,phase:1,pass,nolog,t:sha1,t:md5"
SecRule MSC_PCRE_LIMITS_EXCEEDED|MSC_PCRE_ERROR "@eq 1" "id:2,phase:5,pass,log,msg:'%{MSC_PCRE_ERROR}'"`;
    const { matches } = judge(spent, { query: `a=${'x'.repeat(2_000)}` }, { workUnits: 10, mode: 'detect' });
    expect(matches.map(({ id, message }) => [id, message])).toEqual([[2, '1']]);
  });
});

test.each([
  ['Basic dXNlcjpwdw==', ['AUTH_TYPE Basic', 'REMOTE_USER user']],
  ['bASIC  dXNlcjpwdw', ['AUTH_TYPE bASIC', 'REMOTE_USER user']],
  ['Bearer dXNlcjpwdw==', ['AUTH_TYPE Bearer']],
  ['Digest x="Basic dXNlcjpwdw=="', ['AUTH_TYPE Digest']],
  // Nothing in front of the blank: no scheme.
  [' x', []],
])('who a request with Authorization: %s says it is from', (authorization, expected) => {
  const request = given.request({ headers: { Authorization: authorization } });
  expect(held('AUTH_TYPE|REMOTE_USER', { request })).toEqual(expected);
});

test.each([
  ['A.example:81', 'A.example'],
  ['a.example:', 'a.example'],
  ['[2001:db8::1]:443', '[2001:db8::1]'],
  ['[2001:db8::1]', '[2001:db8::1]'],
])('SERVER_NAME where Host is %s', (host, name) => {
  expect(held('SERVER_NAME', { request: given.request({ headers: { Host: host } }) })).toEqual([`SERVER_NAME ${name}`]);
});

test('SERVER_NAME is the address where no name is given; the first Host counts', () => {
  const request = given.request({});
  expect(held('SERVER_NAME', { request: { ...request, headers: [] } })).toEqual(['SERVER_NAME 192.0.2.1']);
  const two = headersOf({ hosu: 'x.example', HOST: 'a.example', host: 'b.example' });
  expect(held('SERVER_NAME', { request: { ...request, headers: two } })).toEqual(['SERVER_NAME a.example']);
});

test('TIME… is when the request came, in UTC', () => {
  const request = given.request({ now: Date.UTC(2026, 8, 4, 3, 2, 1, 999) });
  const [all] = ['', '_EPOCH', '_YEAR', '_MON', '_DAY', '_WDAY', '_HOUR', '_MIN', '_SEC'].reduce<string[][]>(
    ([so = []], name) => [[...so, ...held(`TIME${name}`, { request })]],
    [],
  );
  expect(all).toEqual([
    ...['TIME 03:02:01', 'TIME_EPOCH 1788490921', 'TIME_YEAR 2026', 'TIME_MON 8', 'TIME_DAY 4', 'TIME_WDAY 5'],
    ...['TIME_HOUR 03', 'TIME_MIN 02', 'TIME_SEC 01'],
  ]);
});

describe('a response', () => {
  const request = given.request({});
  const headers = headersOf({ 'Content-Type': 'text/html; charset=x', 'X-A': 'b', 'Content-Length': '99' });
  const response: WafResponse = { status: 404, httpVersion: 'HTTP/2', headers, body: bytes('oops') };

  test.each([
    ['RESPONSE_HEADERS:x-a', ['RESPONSE_HEADERS:X-A b']],
    ['RESPONSE_HEADERS_NAMES:x-a', ['RESPONSE_HEADERS_NAMES:X-A X-A']],
    ['RESPONSE_BODY', ['RESPONSE_BODY oops']],
    ['RESPONSE_PROTOCOL', ['RESPONSE_PROTOCOL HTTP/2']],
    ['STATUS_LINE', ['STATUS_LINE HTTP/2 404']],
    ['RESPONSE_STATUS|STATUS', ['RESPONSE_STATUS 404', 'STATUS 404']],
    ['RESPONSE_CONTENT_TYPE', ['RESPONSE_CONTENT_TYPE text/html; charset=x']],
    ['RESPONSE_CONTENT_LENGTH', ['RESPONSE_CONTENT_LENGTH 99']],
  ])('%s', (variable, expected) => {
    expect(held(variable, { request, response }).map((one) => one.trimEnd())).toEqual(expected);
  });

  test('is as long as its body where it does not say', () => {
    const length = (body: Uint8Array | null) =>
      held('RESPONSE_CONTENT_LENGTH', { response: { ...response, headers: [], body } });
    expect([length(bytes('oops')), length(null)]).toEqual([
      ['RESPONSE_CONTENT_LENGTH 4'],
      ['RESPONSE_CONTENT_LENGTH 0'],
    ]);
  });

  test.each([
    ['deny,status:418', 'block', '418'],
    ['redirect:https://a.example/,status:307', 'block', '307'],
    ['drop', 'block', '404'],
    // What is let through has the origin's status.
    ['deny,status:418', 'detect', '404'],
  ] as const)('has the status that the client gets: %s where the engine is to %s', (action, mode, status) => {
    const text = `SecAction "id:1,phase:4,nolog,${action}"\nSecAction "id:2,phase:5,pass,log,msg:'%{RESPONSE_STATUS}'"`;
    const verdict = rules(text).begin(request, { mode }).inspectResponse(response);
    expect(verdict.matches.at(-1)).toMatchObject({ id: 2, message: status });
  });
});

describe('a multipart body', () => {
  const type = 'multipart/form-data; boundary=b';
  const field = 'Content-Disposition: form-data; name="a"';
  const of = (header = field, end = '\r\n', value = 'x') => ['--b', header, '', value, '--b--', ''].join(end);
  const posted = (contentType: string, body: string) =>
    given.request({ method: 'POST', headers: { 'Content-Type': contentType }, body });

  const flags = [
    ...['BOUNDARY_QUOTED', 'BOUNDARY_WHITESPACE', 'DATA_BEFORE', 'DATA_AFTER', 'HEADER_FOLDING'],
    ...['INVALID_HEADER_FOLDING', 'INVALID_QUOTING', 'INVALID_PART', 'LF_LINE', 'CRLF_LF_LINES'],
    ...['MISSING_SEMICOLON', 'SEMICOLON_MISSING', 'FILE_LIMIT_EXCEEDED', 'STRICT_ERROR'],
  ];
  const raised = (request: WafRequest, limits?: Limits) =>
    held(flags.map((flag) => `MULTIPART_${flag}`).join('|'), { request, ...(limits && { limits }) })
      .map((one) => /^MULTIPART_(\S+) ([01])$/.exec(one)!)
      .filter(([, , isSet]) => isSet === '1')
      .map(([, name]) => name);

  test.each([
    ['is well formed', type, of(), []],
    ['with a quoted boundary', 'multipart/form-data; boundary="b"', of(), ['BOUNDARY_QUOTED', 'STRICT_ERROR']],
    [
      'with blanks at its boundary',
      'multipart/form-data; boundary = b',
      of().replaceAll('--b', '-- b'),
      ['BOUNDARY_WHITESPACE', 'STRICT_ERROR'],
    ],
    ['with something before', type, `x\r\n${of()}`, ['DATA_BEFORE', 'STRICT_ERROR']],
    ['with something behind', type, `${of()}x`, ['DATA_AFTER', 'STRICT_ERROR']],
    ['with a folded header', type, of(field.replace('; ', ';\r\n ')), ['HEADER_FOLDING', 'STRICT_ERROR']],
    [
      'with a header folded by a vertical tab',
      type,
      of(field.replace('; ', ';\r\n\v')),
      ['HEADER_FOLDING', 'INVALID_HEADER_FOLDING', 'STRICT_ERROR'],
    ],
    ['quoted otherwise', type, of(field.replaceAll('"', "'")), ['INVALID_QUOTING', 'STRICT_ERROR']],
    ['with a part without a name', type, of('Content-Disposition: form-data'), ['INVALID_PART', 'STRICT_ERROR']],
    ['with other line ends', type, of(field, '\n'), ['LF_LINE', 'STRICT_ERROR']],
    ['with both line ends', type, of(`${field}\nX: y`), ['LF_LINE', 'CRLF_LF_LINES', 'STRICT_ERROR']],
    [
      'without a semicolon',
      'multipart/form-data boundary=b',
      of(),
      ['MISSING_SEMICOLON', 'SEMICOLON_MISSING', 'STRICT_ERROR'],
    ],
    ['without an end', type, of().replace('--b--', ''), ['STRICT_ERROR']],
  ])('%s', (_what, contentType, body, expected) => {
    expect(raised(posted(contentType, body))).toEqual(expected);
  });

  test('of more parts than the limit', () => {
    const body = `${of().replace('--b--\r\n', '')}${of()}`;
    expect(raised(posted(type, body), { maxArguments: 2 })).toEqual([]);
    expect(raised(posted(type, body), { maxArguments: 1 })).toEqual(['FILE_LIMIT_EXCEEDED', 'STRICT_ERROR']);
  });

  test('MULTIPART_UNMATCHED_BOUNDARY is 1 where what looks like a boundary comes last, and 0 without a multipart body', () => {
    const unmatched = (request: WafRequest) => held('MULTIPART_UNMATCHED_BOUNDARY', { request })[0]?.slice(-1);
    expect(unmatched(posted(type, `${of().replace('--b--\r\n', '')}--other\r\n`))).toBe('1');
    expect(unmatched(posted(type, of()))).toBe('2');
    expect(unmatched(given.request({}))).toBe('0');
    expect(raised(given.request({}))).toEqual([]);
  });

  test.each([
    ['FILES', ['FILES:up x.txt']],
    ['FILES_NAMES', ['FILES_NAMES:up up']],
    ['FILES_SIZES', ['FILES_SIZES:up 4']],
    ['FILES_TMP_CONTENT', ['FILES_TMP_CONTENT:up text']],
    ['FILES_COMBINED_SIZE', ['FILES_COMBINED_SIZE 4']],
    ['MULTIPART_FILENAME', ['MULTIPART_FILENAME:up x.txt']],
    ['MULTIPART_NAME', ['MULTIPART_NAME:up up']],
    [
      'MULTIPART_PART_HEADERS',
      ['MULTIPART_PART_HEADERS:up Content-Disposition: form-data; name="up"; filename="x.txt"'],
    ],
  ])('%s', (variable, expected) => {
    const file = of('Content-Disposition: form-data; name="up"; filename="x.txt"', '\r\n', 'text');
    expect(held(variable, { request: posted(type, file) })).toEqual(expected);
  });
});

test.each([
  ['XML:/*', ['XML b']],
  ['XML://@*', ['XML 1']],
  ['XML', ['XML b']],
])('%s', (variable, expected) => {
  const request = given.request({ method: 'POST', headers: { 'Content-Type': 'text/xml' }, body: '<a x="1">b</a>' });
  const before = 'SecAction "id:1,phase:1,pass,nolog,ctl:requestBodyProcessor=XML"';
  expect(held(variable, { request }, before).map((one) => one.replace(/^XML:\S*/, 'XML'))).toEqual(expected);
});

test('HIGHEST_SEVERITY is that of the worst rule so far', () => {
  const text = `SecAction "id:1,phase:1,pass,nolog,severity:WARNING"
SecAction "id:2,phase:1,pass,nolog,severity:CRITICAL"
SecAction "id:3,phase:1,pass,nolog,severity:NOTICE"`;
  expect(held('HIGHEST_SEVERITY', {}, text)).toEqual(['HIGHEST_SEVERITY 2']);
});

test('DURATION is how long the request has taken so far, in whole milliseconds', () => {
  let now = 1_000;
  const ruleSet = rules(`SecAction "id:1,phase:3,pass,log,msg:'%{DURATION}'"`, { clock: () => now });
  const transaction = ruleSet.begin(given.request({}));
  now += 12.9;
  const { matches } = transaction.inspectResponse({ status: 200, headers: [], body: null });
  expect(matches.map(({ message }) => message)).toEqual(['12']);
});

describe('tables', () => {
  test('ENV holds what setenv set', () => {
    expect(held('ENV', {}, 'SecAction "id:1,phase:1,pass,nolog,setenv:Mode=on"')).toEqual(['ENV:Mode on']);
  });

  test('MATCHED_VARS and MATCHED_VARS_NAMES hold what the links of a chain so far have matched', () => {
    const text = (variable: string, operator: string) =>
      `SecRule ARGS "@rx ^[ab]$" "id:1,phase:1,pass,log,chain"
SecRule ${variable} "${operator}" ""`.replace(' ""', '');
    const count = (variable: string, operator: string) =>
      judge(text(variable, operator), { query: 'x=a&y=b&z=c' }).matches.length;
    expect(count('&MATCHED_VARS', '@eq 2')).toBe(1);
    expect(count('MATCHED_VARS:ARGS:y', '@streq b')).toBe(1);
    expect(count('MATCHED_VARS_NAMES', '@streq ARGS:x')).toBe(1);
    expect(count('MATCHED_VARS_NAMES', '@streq ARGS:z')).toBe(0);
  });

  test('RULE is what the rule says of itself; a message that names itself holds itself once', () => {
    const says = (actions: string) => {
      const text = `SecAction "id:7,phase:1,log,pass,${actions},setvar:'tx.a=%{RULE.id} %{RULE.rev} %{RULE.ver} [%{RULE.severity}] %{RULE.msg} %{RULE.logdata}'"
SecAction "id:8,phase:1,pass,log,msg:'%{tx.a}'"`;
      return judge(text).matches.at(-1)!.message;
    };
    expect(says("rev:'2',ver:'v3',severity:'ERROR',msg:'m %{REQUEST_METHOD}',logdata:'d'")).toBe('7 2 v3 [3] m GET d');
    expect(says("severity:'0'")).toBe('7   [0]  ');
    expect(says("rev:'1'")).toBe('7 1  []  ');
    // Twice in one rule, to see that what was open is closed again.
    expect(says("msg:'<%{RULE.msg}>',logdata:'%{RULE.msg}'")).toBe('7   [] <> <>');
  });
});

test.each([
  ['FILES_TMPNAMES', 'use FILES_TMP_CONTENT'],
  ['PERF_ALL', 'no per-phase timers'],
  ['PERF_COMBINED', 'no per-phase timers'],
  ['SCRIPT_BASENAME', 'serves no files'],
  ['SCRIPT_FILENAME', 'serves no files'],
  ['SCRIPT_GID', 'serves no files'],
  ['SCRIPT_GROUPNAME', 'serves no files'],
  ['SCRIPT_MODE', 'serves no files'],
  ['SCRIPT_UID', 'serves no files'],
  ['SCRIPT_USERNAME', 'serves no files'],
  ['SDBM_DELETE_ERROR', 'SDBM'],
  ['STREAM_INPUT_BODY', 'use REQUEST_BODY'],
  ['STREAM_OUTPUT_BODY', 'use RESPONSE_BODY'],
  ['RESOLVED_HOST', 'no DNS look-ups'],
])('%s is refused, and why', (variable, reason) => {
  const { ruleSet, diagnostics } = compile([{ path: 'x', text: `SecRule ${variable} "@rx a" "id:1"` }]);
  expect(ruleSet).toBeNull();
  expect(diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining(reason)]);
});
