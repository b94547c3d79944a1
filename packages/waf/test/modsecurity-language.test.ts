// What ModSecurity's own regression tests showed to be worth a test here: rules that its users write, and what they mean.
import { describe, expect, test } from 'vitest';
import { type CompileEnv, compile, formatDiagnostic, type Verdict, type WafResponse } from '../src/index.ts';
import { type GivenRequest, given } from './support/given.ts';

const v3: CompileEnv = { dialect: 'modsecurity3' };
const preamble = 'SecRuleEngine On\n';

const problems = (text: string, env: CompileEnv = {}): string[] =>
  compile([{ path: 'x.conf', text: preamble + text }], env).diagnostics.map(formatDiagnostic);

const judge = (text: string, request: GivenRequest = {}, env: CompileEnv = {}): Verdict => {
  expect(problems(text, env).filter((problem) => problem.includes('error:'))).toEqual([]);
  const { ruleSet } = compile([{ path: 'x.conf', text: preamble + text }], env);
  const response: WafResponse = { status: 200, headers: [], body: null };
  return ruleSet!.begin(given.request(request)).inspectResponse(response);
};

describe('SecDefaultAction', () => {
  test('its tags are on every rule of the phase, with macros, as CRS proposes it in its set-up file', () => {
    const text = `SecDefaultAction "phase:1,log,auditlog,redirect:'http://%{request_headers.host}/',tag:'Host: %{request_headers.host}'"
SecRule ARGS "@streq x" "id:1,phase:1,block,tag:own"`;
    const verdict = judge(text, { query: 'a=x' });
    expect(verdict).toMatchObject({ action: 'redirect', redirectUrl: 'http://shop.example/' });
    expect(verdict.matches[0]!.tags).toEqual(['Host: shop.example', 'own']);
  });

  test('block in it means the other action that stands there', () => {
    const text = 'SecDefaultAction "phase:1,log,deny,block,status:409"\nSecAction "id:1,phase:1,block"';
    expect(judge(text)).toMatchObject({ action: 'block', status: 409 });
  });

  test.each(['phase:1,log', 'phase:1,log,block,status:404', 'phase:2,t:none'])(
    '%s does not say what block means',
    (actions) => {
      expect(problems(`SecDefaultAction "${actions}"`)).toEqual([
        'x.conf:2:1: error: SecDefaultAction must say what block means (expected pass, deny, drop, redirect or allow)',
      ]);
    },
  );
});

describe('directives that change other rules', () => {
  const rule = 'SecRule ARGS "@contains v" "id:1,phase:1,deny,tag:T,msg:M"';
  test.each([
    'SecRuleRemoveById 1',
    'SecRuleRemoveByTag T',
    'SecRuleRemoveByMsg M',
    'SecRuleUpdateTargetById 1 !ARGS',
    'SecRuleUpdateTargetByTag T !ARGS:/^a$/',
    'SecRuleUpdateTargetByMsg M "!ARGS:a"',
    'SecRuleUpdateActionById 1 "pass"',
  ])('%s acts on rules above it, with ModSecurity 3 on rules below it as well', (directive) => {
    const request = { query: 'a=v' };
    expect(judge(`${rule}\n${directive}`, request).action).toBe('pass');
    expect(judge(`${directive}\n${rule}`, request, v3).action).toBe('pass');
    expect(judge(`${directive}\n${rule}`, request).action).toBe('block');
    expect(problems(`${directive}\n${rule}`).join()).toContain('finds no rule above this line');
    expect(problems(`${directive}\n${rule}`, v3)).toEqual([]);
  });
});

test('ModSecurity 3 reads request bodies unless told not to, ModSecurity 2 only when told to', () => {
  const text = 'SecRule ARGS_POST:a "@streq x" "id:1,phase:2,deny"';
  const request = {
    method: 'POST',
    body: 'a=x',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '3' },
  };
  expect(judge(text, request, v3).action).toBe('block');
  expect(judge(`SecRequestBodyAccess Off\n${text}`, request, v3).action).toBe('pass');
  expect(judge(text, request).action).toBe('pass');
  expect(judge(`SecRequestBodyAccess On\n${text}`, request).action).toBe('block');
});

test('a status may stand on a later rule of a chain', () => {
  const text = 'SecRule ARGS "@streq x" "id:1,phase:1,deny,chain"\nSecRule REQUEST_METHOD "@streq GET" "status:437"';
  expect(judge(text, { query: 'a=x' })).toMatchObject({ action: 'block', status: 437 });
});

test('a variable of a collection may be written with a dot', () => {
  expect(judge('SecRule ARGS.a "@streq x" "id:1,phase:1,deny"', { query: 'b=x' }).action).toBe('pass');
  expect(judge('SecRule ARGS.a "@streq x" "id:1,phase:1,deny"', { query: 'a=x' }).action).toBe('block');
});

describe('RULE', () => {
  test('is the rule itself; its message names itself but once', () => {
    const verdict = judge(
      `SecAction "id:7,phase:1,log,pass,rev:2,severity:ERROR,msg:'%{rule.id} %{RULE.rev} %{rule.severity} [%{rule.msg}]',logdata:'%{rule.msg}'"`,
    );
    expect(verdict.matches[0]).toMatchObject({ message: '7 2 3 [7 2 3 []]', data: '7 2 3 []' });
  });

  test('is readable by setvar, as CRS 3 does', () => {
    const text = `SecRule ARGS "@rx x" "id:8,phase:1,pass,nolog,msg:'Found %{ARGS.a}',setvar:'tx.%{rule.id}-%{matched_var_name}=%{rule.msg}'"
SecRule TX:/^8-/ "@streq Found x" "id:9,phase:1,deny"`;
    expect(judge(text, { query: 'a=x' }).ruleId).toBe(9);
  });
});

test('in the logging phase RESPONSE_STATUS is what the client got', () => {
  const text = `SecRule ARGS "@streq x" "id:1,phase:1,deny,status:406"
SecRule RESPONSE_STATUS "@eq 406" "id:2,phase:5,pass,log"
SecRule RESPONSE_STATUS "@eq 200" "id:3,phase:5,pass,log"`;
  expect(judge(text, { query: 'a=x' }).matches.map(({ id }) => id)).toEqual([1, 2]);
  expect(judge(text, { query: 'a=y' }).matches.map(({ id }) => id)).toEqual([3]);
});

test.each([
  ['SecAction "id:1,xmlns:soap\'http://a.b/\'"', "soap'http://a.b/'"],
  ['SecAction "id:1,xmlns:="', '='],
  ['SecAction "id:1,xmlns:soap=a.b/"', 'soap=a.b/'],
])('%s names no namespace', (text, token) => {
  expect(problems(text)).toEqual([
    expect.stringContaining(`error: This is not an XML namespace (near "${token}"; expected PREFIX=URL`),
  ]);
});

test('a macro takes no pattern', () => {
  expect(problems('SecRule ARGS "@within %{TX:/a/}" "id:1"')).toEqual([
    'x.conf:2:23: error: A macro takes no pattern (near "%{TX:/a/}"; expected the name of one variable: a macro stands for one value)',
  ]);
});
