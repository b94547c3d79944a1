import { describe, expect, test } from 'vitest';
import { type GivenRequest, given } from '../../test/support/given.ts';
import { fired, judge } from '../../test/support/judge.ts';
import { compile, formatDiagnostic } from '../index.ts';

const FORM = 'application/x-www-form-urlencoded';
const posted = (type: string, body: string): GivenRequest => ({
  method: 'POST',
  headers: { 'Content-Type': type },
  body,
});
const seen = (variable: string, more = ''): string =>
  `${more}\nSecRule ${variable} "@unconditionalMatch" "id:90,phase:2,pass,log,msg:'%{MATCHED_VAR}'"`;
const last = (text: string, request: GivenRequest): string | undefined => judge(text, request).matches[0]?.message;

describe('ctl', () => {
  const ctl = (what: string): string => `SecAction "id:1,phase:1,pass,nolog,ctl:${what}"`;
  const deny = 'SecAction "id:2,phase:2,deny,log"';

  test.each([
    ['On', 'block', 'block', [2]],
    ['Off', 'pass', 'pass', []],
    ['DetectionOnly', 'pass', 'block', [2]],
  ])('ruleEngine=%s', (mode, action, wouldBe, ids) => {
    const verdict = judge(`${ctl(`ruleEngine=${mode}`)}\n${deny}`);
    expect(verdict).toMatchObject({ action, wouldBe });
    expect(verdict.matches.map(({ id }) => id)).toEqual(ids);
  });

  test('ruleEngine=Off is the end of the phase it stands in', () => {
    expect(fired(`${ctl('ruleEngine=Off')}\nSecAction "id:3,phase:1,pass,log"`)).toEqual([]);
  });

  test('requestBodyAccess decides whether there is a body, and what it says comes before what the rules say', () => {
    const rules = seen('ARGS_POST|REQUEST_BODY');
    const request = posted(FORM, 'a=1');
    expect(fired(rules, request)).toEqual([90]);
    expect(fired(`${ctl('requestBodyAccess=Off')}${rules}`, request)).toEqual([]);
    expect(fired(`SecRequestBodyAccess Off${rules}`, request)).toEqual([]);
    expect(fired(`SecRequestBodyAccess Off\n${ctl('requestBodyAccess=On')}${rules}`, request)).toEqual([90]);
    // Without one there is nothing to be found.
    expect(fired(rules, { method: 'POST' })).toEqual([]);
  });

  test('requestBodyLimit is one for this request, and never above what the caller hands over', () => {
    const request = posted(FORM, `a=${'x'.repeat(100)}`);
    const lower = ctl('requestBodyLimit=50');
    expect(judge(lower, request)).toMatchObject({ action: 'block', status: 413, limitsHit: ['request_body'] });
    expect(judge(ctl('requestBodyLimit=102'), request)).toMatchObject({ action: 'pass', limitsHit: [] });
    const limits = { maxBodyBytes: 50 };
    expect(judge(ctl('requestBodyLimit=1000'), request, limits)).toMatchObject({ action: 'block', status: 413 });
  });

  test.each([
    ['requestBodyLimit=0', 'This is not a number of bytes'],
    ['requestBodyLimit=1.5', 'This is not a number of bytes'],
    ['requestBodyLimit=x', 'This is not a number of bytes'],
    ['ruleEngine=maybe', 'This ctl does not take that value'],
    ['auditLogParts=xA', 'These are not audit log parts'],
    ['auditLogParts=Ax', 'These are not audit log parts'],
    ['auditLogParts=', 'These are not audit log parts'],
    ['hashEngine=On', 'This ctl is not supported: responses are not rewritten'],
    ['hashEnforcement=On', 'This ctl is not supported: responses are not rewritten'],
    ['parseXmlIntoArgs=On', 'This ctl is not supported: XML values'],
    ['constructor=On', 'There is no such ctl'],
    ['ruleEngine', 'There is no such ctl'],
  ])('%s is a mistake', (what, problem) => {
    const { ruleSet, diagnostics } = compile([{ path: 'x', text: ctl(what) }]);
    expect(ruleSet).toBeNull();
    expect(diagnostics.map(formatDiagnostic).join()).toContain(problem);
  });
});

describe('flow', () => {
  const problems = (text: string): string =>
    compile([{ path: 'x', text }])
      .diagnostics.map(formatDiagnostic)
      .join();

  test.each(['0', '-1', '1.5', 'x'])('skip:%s is a mistake', (count) => {
    expect(problems(`SecAction "id:1,phase:1,pass,skip:${count}"`)).toContain('This is not a number of rules');
  });

  test('skip and skipAfter belong to the head of a chain', () => {
    for (const action of ['skip:1', 'skipAfter:END']) {
      const text = `SecRule ARGS "@rx a" "id:1,phase:1,pass,chain"\nSecRule ARGS "@rx b" "${action}"\nSecMarker END`;
      expect(problems(text)).toContain('belongs to the first rule of a chain');
    }
  });

  test('multiMatch matches what is there after a transformation only, and before it only', () => {
    const rule = (text: string) => `SecRule ARGS "@rx ^${text}$" "id:1,phase:1,pass,log,t:lowercase,t:trim,multiMatch"`;
    for (const text of [' AB', ' ab', 'ab']) expect(fired(rule(text), { query: 'a=%20AB' })).toEqual([1]);
    expect(fired(rule('AB'), { query: 'a=%20AB' })).toEqual([]);
  });

  test('t:none forgets the transformations before it', () => {
    const rule = (transformations: string) => `SecRule ARGS "@streq A" "id:1,phase:1,pass,log,${transformations}"`;
    expect(fired(rule('t:lowercase,t:none'), { query: 'a=A' })).toEqual([1]);
    expect(fired(rule('t:none,t:lowercase'), { query: 'a=A' })).toEqual([]);
  });

  test('%u is read through the map that the rules name, in every rule alike', () => {
    const rule = (id: number) => `SecRule QUERY_STRING "@contains <" "id:${id},phase:1,pass,log,t:urlDecodeUni"`;
    const env = { readFile: () => Buffer.from('20127 (US-ASCII)\n0100:3c \n\n') };
    const compiled = (head: string) =>
      compile([{ path: 'x', text: `SecRuleEngine On\n${head}\n${rule(1)}\n${rule(2)}` }], env);
    const withMap = compiled('SecUnicodeMapFile unicode.mapping 20127');
    expect(withMap.diagnostics).toEqual([]);
    const request = given.request({ query: 'a=%u0100' });
    expect(withMap.ruleSet!.inspect(request).matches.map(({ id }) => id)).toEqual([1, 2]);
    expect(compiled('').ruleSet!.inspect(request).matches).toEqual([]);
  });
});

describe('bodies', () => {
  test.each([
    [FORM, 'a=1', 'URLENCODED'],
    [`${FORM.toUpperCase()}; charset=utf-8`, 'a=1', 'URLENCODED'],
    ['multipart/form-data; boundary=b', '--b--\r\n', 'MULTIPART'],
    ['Multipart/Form-Data; boundary=b', '--b--\r\n', 'MULTIPART'],
  ])('of type %j are for the processor that belongs to it', (type, body, processor) => {
    expect(last(seen('REQBODY_PROCESSOR'), posted(type, body))).toBe(processor);
  });

  test.each([
    ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nno end'],
    ['multipart/form-data; boundary=b', 'nothing of the kind'],
  ])('of type %j that are not whole are told to be so', (type, body) => {
    expect(last(seen('REQBODY_ERROR'), posted(type, body))).toBe('1');
    expect(last(seen('REQBODY_ERROR'), posted(type, '--b--\r\n'))).toBe('0');
  });

  test('names of all parts of a form are there to be looked at', () => {
    const part = (disposition: string) => `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\nx\r\n`;
    const body = `${part('name="field"')}${part('name="upload"; filename="a.txt"')}--b--\r\n`;
    const request = posted('multipart/form-data; boundary=b', body);
    for (const name of ['field', 'upload']) {
      expect(fired(`SecRule MULTIPART_NAME "@streq ${name}" "id:1,phase:2,pass,log"`, request)).toEqual([1]);
    }
    expect(fired('SecRule FILES_NAMES "@streq upload" "id:1,phase:2,pass,log"', request)).toEqual([1]);
    expect(fired('SecRule FILES_SIZES "@eq 1" "id:1,phase:2,pass,log"', request)).toEqual([1]);
    expect(fired('SecRule ARGS_COMBINED_SIZE "@eq 6" "id:1,phase:2,pass,log"', request)).toEqual([1]);
  });

  test.each([
    ['text/html', [1]],
    ['text/xml', [1]],
    ['application/xml', []],
    ['image/svg+xml', []],
  ])('of XML that is passed as %s are texts as well only where they may end up in a page', (type, ids) => {
    const rule = 'SecRule ARGS "@contains <script" "id:1,phase:2,pass,log"';
    expect(fired(rule, posted(type, '<a><script>x</script></a>'))).toEqual(ids);
  });

  test('that are too long are looked at in part where nothing is refused, and not at all where they are', () => {
    const text = 'SecRequestBodyNoFilesLimit 100\nSecRule &ARGS_POST "@ge 1" "id:1,phase:5,pass,log"';
    const request = posted(FORM, `a=1&b=${'x'.repeat(200)}`);
    const ids = (mode: 'block' | 'detect') => judge(text, request, { mode }).matches.map(({ id }) => id);
    expect([ids('detect'), ids('block')]).toEqual([[1], []]);
    expect(judge(text, request, { mode: 'detect' })).toMatchObject({ wouldBe: 'block', limitsHit: ['request_body'] });
  });
});

test('where nothing is refused the first rule that would have is the one that is named', () => {
  const text =
    'SecRuleEngine DetectionOnly\nSecAction "id:1,phase:1,log,deny,status:404"\nSecAction "id:2,phase:1,log,drop"';
  expect(judge(text)).toMatchObject({ action: 'pass', wouldBe: 'block', ruleId: 1 });
});

test('a rule knows itself', () => {
  const text = `SecAction "id:7,phase:1,pass,nolog,msg:'first'"\nSecAction "id:8,phase:1,pass,log,msg:'%{RULE.id}'"`;
  expect(last(text, {})).toBe('8');
});
